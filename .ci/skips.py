"""Print the skipped tests of a pytest log and fail on one that `.ci/allowed-skips` does not name.

Each line of the allow-list is a piece of text that the skip's line of pytest's summary holds; `#`
begins a comment.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main(log: str) -> int:
    """The exit code: 0 when every skip is allowed."""
    rows = (HERE / "allowed-skips").read_text().splitlines()
    allowed = [row.strip() for row in rows if row.strip() and not row.startswith("#")]
    lines = Path(log).read_text(errors="replace").splitlines()
    skips = [line for line in lines if line.startswith(("SKIPPED", "XFAIL", "XPASS"))]
    sys.stdout.write(f"skipped tests: {len(skips)}\n")
    unknown = [line for line in skips if not any(text in line for text in allowed)]
    for line in skips:
        sys.stdout.write(f"  {'NOT ALLOWED ' if line in unknown else ''}{line}\n")
    if unknown:
        sys.stdout.write(f"add a reason to .ci/allowed-skips, or mend the test{os.linesep}")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
