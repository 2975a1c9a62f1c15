"""The faults a user can mend, each with the exit code its command ends with.

A fault's message says where, what was expected, what was got and what to do; it is printed
without a traceback. Anything else that is raised is a bug and crashes as one.

    Fault              1  the work failed
    |-- BadRecord      1  a line of a file is not the record the file promises
    |-- Unreadable     1  an image that cannot be opened, or is not safe to open
    |-- CannotWrite    1  no room on the disk, or no right to write there
    |-- Usage          2  a command, option, name or setting that cannot be used
    |-- Busy           2  another process holds the folder or file
    |-- TooManyFailed  3  the work is done, but more items failed than allowed
    `-- Refused        4  integrity: tampered, unsafe, incomplete or leaking input
"""


class Fault(Exception):
    """Something went wrong that the user can mend."""

    exit_code = 1


class BadRecord(Fault):
    """A line of a file is not the record the file promises."""


class Unreadable(Fault):
    """An image that cannot be opened, or is not safe to open.

    `outcome` names the way it failed, one of `images.Outcome`, so that audits can count.
    """

    def __init__(self, message: str, outcome: str = "unreadable") -> None:
        super().__init__(message)
        self.outcome = outcome


class CannotWrite(Fault):
    """The system did not take what was to be written: no room, no right, no such place."""


class Usage(Fault):
    """A command, option, name or setting that cannot be used as given."""

    exit_code = 2


class Busy(Fault):
    """Another process is at work on this folder or file."""

    exit_code = 2


class TooManyFailed(Fault):
    """The work is done and saved, but more items failed than allowed."""

    exit_code = 3


class Refused(Fault):
    """Input whose integrity does not hold: tampered, unsafe, incomplete or leaking."""

    exit_code = 4


class Unbalanced(AssertionError):
    """A stage lost, doubled or invented records: a bug in the stage, not in the data."""
