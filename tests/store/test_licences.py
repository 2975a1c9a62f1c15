"""A licence is called by an official name only where that is certain."""

import pytest

from fieldtruth.store import licences


@pytest.mark.parametrize(
    ("licence", "spdx", "hub"),
    [
        ("CC0", "CC0-1.0", "cc0-1.0"),
        ("cc0-1.0", "CC0-1.0", "cc0-1.0"),
        ("CC BY 4.0", "CC-BY-4.0", "cc-by-4.0"),
        (" cc-by-sa  3.0 ", "CC-BY-SA-3.0", "cc-by-sa-3.0"),
        ("CC BY-NC-ND 4.0", "CC-BY-NC-ND-4.0", "cc-by-nc-nd-4.0"),
        ("Creative Commons BY 4.0", "CC-BY-4.0", "cc-by-4.0"),
        ("MIT", "MIT", "mit"),
        ("Apache-2.0", "Apache-2.0", "apache-2.0"),
        ("GPL-3.0", "GPL-3.0-only", "gpl-3.0"),
        ("CC BY", None, "other"),
        ("CC BY 4.0 or ask me", None, "other"),
        ("CC BY 7.0", None, "other"),
        ("MIT?", None, "other"),
        ("All rights reserved", None, "other"),
        ("Unknown", None, "unknown"),
        ("not stated", None, "unknown"),
    ],
)
def test_what_a_licence_is_called_elsewhere(licence: str, spdx: str | None, hub: str) -> None:
    assert licences.spdx(licence) == spdx
    assert licences.hub(licence) == hub
    address = f"https://spdx.org/licenses/{spdx}.html"
    assert licences.page(licence) == (address if spdx else licence)
