"""What mail programs and web forms put around a turn is taken out, and nothing that was said is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldtruth.dialogues import LONGEST, clean

TABLE = {
    "nothing to do": ("Is this rust?", "Is this rust?", ()),
    "gmail": (
        "More spots now.\xa0On Mon, Jun 17, 2024, 6:15\u202fPM Ask Extension <<mail>> wrote:",
        "More spots now.", ("quoted mail",),
    ),
    "gmail at": (
        "Thanks!On Tue, May 23, 2023 at 1:57\u202fPM Ask Extension <<mail>> wrote: > Dig it in.",
        "Thanks!", ("quoted mail",),
    ),
    "yahoo": (
        "And aphids?   On Monday, July 29, 2024 at 07:32:22 PM EDT, Ask <<mail>> wrote:",
        "And aphids?", ("quoted mail",),
    ),
    "comcast": (
        "Yes. On 06/19/2024 7:29 AM MDT Ask Extension <<mail>> wrote:", "Yes.", ("quoted mail",),
    ),
    "aol": (
        "Yes. In a message dated 10/28/2024 8:24:12 AM Eastern Daylight Time, <<mail>> writes: No.",
        "Yes.", ("quoted mail",),
    ),
    "a name that was hidden took the word on": (
        "Will it grow out? Taylor, Sep 25, 2024, 9:06\u202fPM Ask Extension <<mail>> wrote:",
        "Will it grow out?", ("quoted mail", "signature"),
    ),
    "the quoted words go with their head": (
        "No. On Aug 9, 2024, at 5:49 PM, Ask Extension <<mail>> wrote:   Did it rain?\nDid it?",
        "No.", ("quoted mail",),
    ),
    "an answer below the quote stays": (
        "On Mon, Jun 17, 2024 Ask <<mail>> wrote:\n> Did it rain?\nIt did not.\n",
        "It did not.", ("quoted mail",),
    ),
    "nothing but a quote": (
        "On Tue, Jun 18, 2024, 12:37\u202fPM Ask Extension <<mail>> wrote:", "", ("quoted mail",),
    ),
    "quotes by line": ("> Did it rain?\n> Did it?\nNo.", "No.", ("quoted mail",)),
    "forwarded": (
        "---------- Forwarded message ---------From: E L <<mail>>Date: Tue, Jun 18, 2024, 1:31 PM"
        "Subject: Re: Hackberry (#0143446)To: Ask <<mail>>   These are the best pictures.",
        "These are the best pictures.", ("quoted mail",),
    ),
    "outlook": (
        "It has borers.   From: ask=<mail> <ask=<mail>> on behalf of Ask Extension <<mail>> Sent: "
        "Friday, July 19, 2024 3:23 PM To: Poe, Ann <<mail>> Subject: Re: Oak (#0147642)",
        "It has borers.", ("quoted mail",),
    ),
    "original message": (
        "I can.  -----Original Message-----From: Ask Extension Sent: Aug 23, 2024 4:08 PMTo: Ann "
        "Poe Subject: Re: Pond (#0152551)", "I can.", ("quoted mail",),
    ),
    "external": ("Here they are. [ EXTERNAL EMAIL ]", "Here they are.", ("mail program",)),
    "telephone": ("How do I kill it? Sent from my iPhone", "How do I kill it?", ("mail program",)),
    "yahoo telephone": (
        "It blooms! Sent from Yahoo Mail for iPhone", "It blooms!", ("mail program",),
    ),
    "the form's footer": (
        "Try soap. Need to reply to the expert? Click the link below, or simply rep", "Try soap.",
        ("mail program",),
    ),
    "closing and name": (
        "Will it live? Thank you so much, Ann Poe", "Will it live?", ("signature",),
    ),
    "closing and post": (
        "Call us. Best wishes, The Boulder County Extension Colorado Master Gardeners", "Call us.",
        ("signature",),
    ),
    "name and post alone": (
        "Let it dry.  Sue, Weld County Colorado Master Gardener", "Let it dry.", ("signature",),
    ),
    "name alone": ("Use less water.  Miri", "Use less water.", ("signature",)),
    "lines": (
        "What is it?\r\n\r\nThank you!\r\n\r\nAnn Poe\r\nIronfox Farm\r\nSioux Falls, SD<<phone>>",
        "What is it?", ("signature",),
    ),
    "dashes": ("What is it?\n-- \nAnn Poe\nTel. 555", "What is it?", ("signature",)),
    "a plant at the end is no name": (
        "What is it? Japanese Beetle", "What is it? Japanese Beetle", (),
    ),
    "a crop at the end is no name": ("What grows there? Tomato", "What grows there? Tomato", ()),
    "thanks to all are said": (
        "Thank you for using our forum.", "Thank you for using our forum.", (),
    ),
    "nothing but thanks stays": ("Thank you, Ann", "Thank you, Ann", ()),
    "a sentence with a closing's word": (
        "The best cure is water. Regards the roots, cut them.",
        "The best cure is water. Regards the roots, cut them.", (),
    ),
    "wrote without a date": (
        "The label wrote: dilute 1 to 10.", "The label wrote: dilute 1 to 10.", (),
    ),
    "from and to": ("From: the tree. To: the ground.", "From: the tree. To: the ground.", ()),
    "html": (
        "<p>Dig&nbsp;it in.<br/>Then <b>water</b> &amp; wait.</p><script>x()</script>",
        "Dig it in.\n\nThen water & wait.", ("HTML",),
    ),
    "html quote": (
        "<div>No.</div><blockquote type='cite'>Did it rain?</blockquote>", "No.", ("HTML",),
    ),
    "a link's words stay": (
        'See <a href="https://x.example/?token=1" target="_blank">the sheet</a>.', "See the sheet.",
        ("HTML",),
    ),
    "an entity alone": ("5 &lt; 6 &amp; 7", "5 < 6 & 7", ("HTML",)),
    "less and more are no tags": ("leaf <2 mm and >1 mm", "leaf <2 mm and >1 mm", ()),
    "placeholders are no tags": (
        "Hi, <<name>>! <br>Use soap.", "Hi, <<name>>!\nUse soap.", ("HTML",),
    ),
    "a tag nobody knows is text": ("<<name>> said <x y> <br>", "<<name>> said <x y>", ("HTML",)),
    "blanks of every kind": ("a\xa0\u202f b\r\n\r\n\r\nc\ufeff\u200b", "a b\n\nc", ()),
    "a blank read as Latin-1": ("It is brown.\u00c2\u00a0 Why?", "It is brown. Why?", ()),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLE)
def test_the_table(case: str) -> None:
    text, left, took = TABLE[case]
    assert clean(text) == (left, took)


@given(st.text(st.characters(codec="utf-8", exclude_characters="<>&"), max_size=300))
def test_it_takes_anything_and_adds_nothing(text: str) -> None:
    left, took = clean(text)
    assert len(left) <= len(text)
    assert left == left.strip()
    assert set(took) <= {"HTML", "quoted mail", "mail program", "signature"}


@pytest.mark.parametrize(
    "text",
    ["<" * 20_000, "On Jun 1, 2024 " * 3_000, "From: " * 8_000, "> " * 20_000, "<p>" * 20_000,
     "Ann " * 20_000, "Thank you, " * 8_000],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_a_long_text_of_one_pattern_takes_no_time(text: str) -> None:
    assert len(text) <= LONGEST
    assert len(clean(text).text) <= len(text)
