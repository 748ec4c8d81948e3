"""Names that a package can have, and those that it cannot, each with a name that it can."""

from __future__ import annotations

import re

import pytest

from tilewright.errors import TilewrightError
from tilewright.scaffold.names import package_name


def test_what_a_name_is_elsewhere() -> None:
    name = package_name("acme-one-2", "platform")
    assert (name.module, name.macro, name.title) == ("acme_one_2", "ACME_ONE_2", "Acme One 2")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Acme", "small letters"),
        ("acme_one", "small letters"),
        ("2acme", "a letter first"),
        ("acme-", "small letters"),
        ("", "small letters"),
        ("json", "a module of Python"),
        ("match", "a word of Python"),
        ("tilewright-acme", "its own packages"),
        ("a" * 40, "it has 40 characters"),
    ],
)
def test_a_name_that_cannot_be_is_refused_with_one_that_can(name: str, reason: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        package_name(name, "platform")
    assert caught.value.code == "TW8014"
    assert reason in caught.value.message
    similar = re.search(r"such as ([\w-]+)", caught.value.fix[0])
    assert similar is not None
    assert package_name(similar[1], "platform").name == similar[1]


def test_a_name_that_somebody_has_is_refused_with_its_package() -> None:
    with pytest.raises(TilewrightError) as caught:
        package_name("twin", "runner")
    assert caught.value.code == "TW8015"
    assert caught.value.message == "there is a runner 'twin' already, from tilewright"
    assert package_name("twin", "allocator").name == "twin"
