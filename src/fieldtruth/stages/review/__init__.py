"""Review: photos and boxes go to people, and their decisions come back.

sending    items -> a folder for Label Studio, part of it blind, and what was sent
sheet      the reference sheet: names and symptom cues
returning  the server's export -> items, drops, a log of every decision
anchoring  how much of the machine's boxes people kept
agreement  two people on one photo
sampling   machine-made boxes of the training split, stratified, for an audit
verdicts   the audit's rates, and whether the detector's confidence knew
"""
