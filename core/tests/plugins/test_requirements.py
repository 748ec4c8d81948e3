"""What a requirement asks is what `packaging` reads in it."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tilewright.plugins.requirements import asked_of, canonical_name

LINES = [
    "tilewright",
    "tilewright>=0.1",
    "tilewright<0.2,>=0.1",
    "tilewright>=0.1,<0.2",
    "Tile_Wright<0.2",
    "tilewright>=0.1.0",
    "tilewright<0.10",
    "tilewright==0.1",
    "tilewright~=0.1.0",
    "tilewright!=0.1.0",
    "tilewright >=0.1",
    "tilewright>=0.1a1",
    "tilewright>=0.1; python_version > '3'",
    "tilewright>=0.1; extra == 'all'",
    "tilewright[all]<1",
    "other>=1",
    "tilewright-riscv<0.2,>=0.1",
]
VERSIONS = ["0.1", "0.1.0", "0.1.5", "0.2", "0.2.0", "0.10", "1", "1.0.0", "0.2.0a1", "0.1.dev3", "0.1.post1"]


@pytest.mark.parametrize("line", LINES)
def test_a_line_asks_what_packaging_reads(line: str) -> None:
    read = Requirement(line)
    applies = read.marker is None or read.marker.evaluate({"extra": ""})
    asked = asked_of("tilewright", line)
    assert (asked is not None) == (canonicalize_name(read.name) == "tilewright" and applies)
    if asked is not None:
        assert str(asked) == str(read.specifier)
        assert [asked.accepts(one) for one in VERSIONS] == [
            read.specifier.contains(one, prereleases=True) for one in VERSIONS
        ]


@pytest.mark.parametrize("line", ["", "tilewright>=", ">=1", "tilewright>=0.1,,<2", "-x"])
def test_what_is_no_requirement_is_an_error(line: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        asked_of("tilewright", line)


@pytest.mark.parametrize("name", ["tilewright", "Tile_Wright", "a.b--c__d", "A"])
def test_names_have_one_spelling(name: str) -> None:
    assert canonical_name(name) == canonicalize_name(name)
