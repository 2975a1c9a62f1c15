"""Talks of growers with experts on their way to `Dialogue` records.

mail    what a person wrote, without what mail programs put around it
turns   the turns of a talk: cleaned, none empty, none said twice
mending broken JSON whose meaning is plain
mirage  MIRAGE's files, which two sources read
"""

from fieldtruth.dialogues.mail import LONGEST, Cleaned, clean
from fieldtruth.dialogues.turns import moment, settled, state_of

__all__ = ["LONGEST", "Cleaned", "clean", "moment", "settled", "state_of"]
