"""Personal data that shows itself by its form is found, and what only looks like it is not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldtruth.privacy import rules

FOUND = {
    "mail": [
        "ann.poe@example.org", "ann+garden@mail.example.co.uk", "ann (at) example (dot) org",
        "ann[at]example.org", "ann at gmail dot com",
    ],
    "phone": [
        "410-555-0134", "(410) 555-0134", "410.555.0134", "+1 410 555 0134", "1-800-555-0134",
        "+91 98765 43210", "9876543210", "079-23257758", "02716-231911", "+44 20 7946 0018",
        "call me on 555-0134", "a number ending in 9204",
    ],
    "address": [
        "3221 Eastwick Rd.", "12 N. Elm Street", "5 Old Mill Road, Sioux Falls, SD 57101",
        "P.O. Box 12", "Silver Spring, MD 20904", "zip 20904", "pin code 281204", "9 5th Ave",
    ],
    "place": ["Weld County", "Prince George's County", "Otter Tail and Wadena Counties"],
    "mail head": [
        "From: Ann Poe <<mail>> Date: Tue", "Message-ID: <x1.y2@mail.example>",
        "On Tue, Jun 18, 2024, 12:37 PM Ann Poe wrote:",
    ],
    "coordinates": [
        "39.0458, -76.6413", "39.0458° N, 76.6413° W", "39° 2' 45\" N", "lat: 39.0458",
    ],
    "link": [
        "https://photos.app.goo.gl/abc", "https://www.facebook.com/ann.poe",
        "https://x.example/file.php?key=igiu1ftlyc&expires=1670371200",
        "https://x.example/u?user_id=7", "https://x.example/users/annpoe",
        "https://x.example/unsubscribe/ann@example.org",
        "https://x.example/s/aB3dE5fG7hI9jK1lM3nO5",
    ],
    "handle": ["@annpoe77", "Skype: annpoe"],
    "number": ["#0147642", "(#873528)", "123-45-6789", "case number: 2024-118"],
}  # fmt: skip
NAMES = {
    "Hi Ann, it is rust.": "Ann", "Hello again Sue: it is rust.": "Sue", "Dear Dr. Poe, so": "Poe",
    "Thanks so much, Lisa. It helps.": "Lisa", "Good Evening Douglas, so": "Douglas",
    "Mr. Sheehan, before that": "Sheehan", "It is rust.\n\n-- Jack": "Jack",
    "My name is Ann Poe and I farm.": "Ann Poe", "Hi Rose, it is rust.": "Rose",
    "Sally Granath, Hennepin Master Gardener": "Sally Granath", "Hi, Siân O'Poe!": "Siân O'Poe",
}  # fmt: skip
NOBODY = [
    "Hi all, what is it?", "Hello Master Gardener, what is it?", "Thank you! I will.",
    "Thanks for your help.", "Dear Extension, so", "What is it?\n\nThank you", "Hi,\n\nMy tree",
    "Septoria, Bradford pear and daisy", "Hello! Some leaves fell.", "It blooms. Japanese Beetle",
    "Thanks, I'll try.", "Hello UMD Extension, so", "Good morning, what", "Best wishes",
    "N-P-K 10-10-10 at 2-3 lbs per 1000 sq ft", "800-1200 ppm", "soil pH 6.5-7.0", "2019-07-25",
    "https://extension.umd.edu/resource/white-prunicola-scale/",
    "https://extension.colostate.edu/topic-areas/yard-garden/protecting-trees-7-420/",
    "https://bugguide.net/node/view/229821", "www.treesaregood.org/findanarborist",
    "7 ft. at 39.5 F, then 12.5 in", "the county office", "The County", "in 3 days, 25 sprays",
    "a @ ten-year-old tree", "photo #2", "HYG-3075", "1,234,567 seeds", "<<name>>, thanks",
    "<<personal data hidden>>", "Maryland", "zone 7b", "20-20-20 fertilizer 14 days apart",
    "From: the tree. To: the ground.", "200 ml in 100 l of water per acre", "RRD 2,4-D",
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "value"), [(kind, each) for kind in FOUND for each in FOUND[kind]]
)
def test_it_is_found_and_called_what_it_is(kind: str, value: str) -> None:
    text = f"I saw it at {value}"
    found = rules.find(text)
    assert kind in [each.kind for each in found]
    left = text
    for each in reversed(found):
        left = left[: each.start] + left[each.end :]
    assert not any(letter.isdigit() or letter == "@" for letter in left), left


@pytest.mark.parametrize("text", NAMES)
def test_who_is_greeted_titled_or_signs_is_a_name(text: str) -> None:
    assert [text[each.start : each.end] for each in rules.find(text)] == [NAMES[text]]


@pytest.mark.parametrize("text", NOBODY)
def test_nothing_is_found_where_nobody_is(text: str) -> None:
    assert rules.find(text) == []


@settings(deadline=None)  # the first call reads the taxonomy
@given(st.text(max_size=300))
def test_what_is_found_lies_in_the_text_and_apart(text: str) -> None:
    end = 0
    for each in rules.find(text):
        assert end <= each.start < each.end <= len(text)
        end = each.end


@pytest.mark.parametrize(
    "text",
    ["1 " * 30_000, "A" * 50_000, "Ab " * 20_000, "a.b" * 20_000, "1-" * 30_000, "www." * 20_000,
     "Hi " * 20_000, "On " * 20_000, "@" * 50_000],
    ids=lambda text: text[:6],
)  # fmt: skip
def test_a_long_text_of_one_pattern_takes_no_time(text: str) -> None:
    assert all(each.end <= len(text) for each in rules.find(text))
