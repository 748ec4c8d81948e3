"""Values of files about boards: sizes, numbers, texts and flags, and the place in what is wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tilewright.config.toml_table import TomlTable, toml_values
from tilewright.errors import TilewrightError


def table(**values: object) -> TomlTable:
    return TomlTable("b.toml", "", values).inner("memory 'ram',", values)


@pytest.mark.parametrize(("value", "size"), [(5, 5), ("64K", 65536), ("2 KiB", 2048), ("1M", 1 << 20), (None, None)])
def test_sizes(value: object, size: int | None) -> None:
    assert table(**({} if value is None else {"size": value})).size("size") == size


def test_other_values() -> None:
    one = table(text="a", number=2, flag=True, texts={"a": "b"})
    assert (one.text("text", ""), one.number("number", 0.0), one.flag("flag")) == ("a", 2.0, True)
    assert (one.text("no", "d"), one.number("no", 1.0), one.flag("no"), one.texts("no")) == ("d", 1.0, False, ())
    assert one.texts("texts") == (("a", "b"),)
    assert table(names=["a", "b"]).list_of_texts("names") == ("a", "b")


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (lambda: table(size="64KB").size("size"), "a size is needed"),
        (lambda: table(text=1).text("text", ""), "a text is needed"),
        (lambda: table(text="c").text("text", "", ("a", "b")), "'c' is not one of a, b"),
        (lambda: table(number=True).number("number", 0.0), "a number, 0 or more"),
        (lambda: table(flag=1).flag("flag"), "true or false"),
        (lambda: table(texts={"a": 1}).texts("texts"), "a table of patterns"),
        (lambda: table(colour=1).only(("size",)), "there are size"),
    ],
)
def test_a_wrong_one_is_refused_with_its_place(wrong: Callable[[], object], reason: str) -> None:
    with pytest.raises(TilewrightError, match=reason) as refused:
        wrong()
    assert refused.value.code == "TW1402"
    assert refused.value.where.startswith("b.toml, memory 'ram', key ")


def test_the_top_of_a_file_is_a_place_too() -> None:
    assert TomlTable("b.toml", "", {}).wrong("key 'a'", "no").where == "b.toml, at the top, key 'a'"


@pytest.mark.parametrize("content", [b"a: 1\n", b"\xff"])
def test_what_is_no_toml_is_refused(content: bytes) -> None:
    with pytest.raises(TilewrightError, match="no TOML") as refused:
        toml_values(content, "b.toml")
    assert refused.value.code == "TW1401"
