"""Personal data in the words of a talk: where it stands, what stands for it, what is left.

rules     what shows itself by its form; the core install
names     names of people in running text; extra `privacy`
plants    what is a plant, a pest or a pathogen, and so is nobody
talks     a dialogue without personal data, and the gate before anything is given out
faces     photos that may show a face; extra `faces`
metadata  photos that tell where or by whom they were taken
"""

from fieldtruth.privacy.talks import PERSONAL, Finding, Looked, scrub, still_personal

__all__ = ["PERSONAL", "Finding", "Looked", "scrub", "still_personal"]
