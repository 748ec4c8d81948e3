"""Knows what a sweep varies: flags and the values that each takes one after the other, and how these are written.
Does not know what is planned with them.

    optimize = speed,ram       memory.fast = 16K..256K       memory.ram = 32K..64K+8K       groups = 1,2,4
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, get_type_hints

from tilewright.config.memory_pools import parse_bytes
from tilewright.errors import TilewrightError, usage_error
from tilewright.errors.suggestions import did_you_mean
from tilewright.front_door.compile_keywords import Keywords

TARGET = "target"  # beside the keywords of `tilewright.compile`
OF_PAIRS = ("memory", "set", "dim", "limit", "bind")  # keywords that are NAME=VALUE: an axis is about one NAME
_NOT_VARIED = ("front", "strict", "import_state", "emit", "selftest", "name")  # change nothing that a sweep says
_FORM = "write values as A,B,C, sizes also as 16K..256K (doubling) or 16K..64K+8K"
_LONGEST = 4096  # values of a range: more are a slip of the hand


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One keyword of `tilewright.compile`, or `target`, and its values; `key` is the NAME of those that are pairs."""

    keyword: str
    key: str = ""
    values: tuple[Any, ...]

    @property
    def name(self) -> str:
        """What its column is called: `memory.fast`."""
        return f"{self.keyword}.{self.key}" if self.key else self.keyword


def axis(name: str, values: Any) -> Axis:
    """The axis `KEYWORD` or `KEYWORD.NAME`; `values` are a text or a list. TilewrightError TW1412 (exit 2)."""
    keyword, _, key = name.partition(".")
    keyword = keyword.replace("-", "_")
    _demand_known(keyword, key, name)
    listed = values if isinstance(values, list | tuple) else [values]
    result = tuple(dict.fromkeys(value for item in listed for value in _values(keyword, item, name)))
    if not result:
        raise unreadable(f"'{name}' has no value", _FORM)
    return Axis(keyword=keyword, key=key, values=result)


def axes_of(table: Mapping[str, Any]) -> Iterator[Axis]:
    """The axes of a table of a file: a table within is about one NAME after the other."""
    for name, values in table.items():
        if isinstance(values, Mapping):
            yield from (axis(f"{name}.{key}", value) for key, value in values.items())
        else:
            yield axis(name, values)


def demand_apart(axes: Iterable[Axis]) -> tuple[Axis, ...]:
    """The axes. TilewrightError TW1412 (exit 2) where two are about one thing."""
    result = tuple(axes)
    names = [other.name for other in result]
    for name in names:
        if names.count(name) > 1:
            raise unreadable(f"'{name}' is varied twice", f"say it once: {name}=A,B,C")
    if {TARGET, "board"} <= {*names}:
        raise unreadable("targets and boards are both varied", "leave one out: a board brings its target")
    return result


def unreadable(reason: str, *fix: str, details: tuple[str, ...] = ()) -> TilewrightError:
    """Why no sweep can be made of what was asked for."""
    return usage_error("TW1412", f"the sweep cannot be read: {reason}", details=details, fix=fix)


def _demand_known(keyword: str, key: str, name: str) -> None:
    known = [TARGET, *(word for word in get_type_hints(Keywords) if word not in _NOT_VARIED)]
    if keyword not in known:
        raise unreadable(
            f"there is nothing called '{name}' to vary",
            f"vary one of: {', '.join(known)}",
            details=tuple(did_you_mean(keyword, known)),
        )
    if (keyword in OF_PAIRS) != bool(key):
        pairs = f"{keyword}.NAME" if keyword in OF_PAIRS else keyword
        raise unreadable(f"'{name}' does not say what of", f"write it as {pairs}=A,B,C")


def _values(keyword: str, item: Any, name: str) -> Iterator[Any]:
    """Those of a text, or one value that is no text."""
    if not isinstance(item, str):
        yield item
        return
    for text in map(str.strip, item.split(",")):
        if not text:
            raise unreadable(f"'{name}={item}' has an empty value", _FORM)
        if ".." in text and keyword in ("memory", "groups", "effort"):
            yield from _range(text, name)
        else:
            yield _of_kind(keyword, text, name)


def _range(text: str, name: str) -> Iterator[int]:
    """`A..B` doubles A until B is passed, `A..B+STEP` adds."""
    first_text, _, rest = text.partition("..")
    last_text, _, step_text = rest.partition("+")
    first, last = parse_bytes(first_text), parse_bytes(last_text)
    step = parse_bytes(step_text) if step_text else 0
    if not 0 < first <= last or (step_text and step == 0):
        raise unreadable(f"'{name}={text}' is no range", _FORM)
    count = (last - first) // step + 1 if step else (last // first).bit_length()
    if count > _LONGEST:
        raise unreadable(f"'{name}={text}' has {count:,} values", "take a larger step")
    values = (first + number * step if step else first << number for number in range(count))
    yield from takewhile(lambda value: value <= last, values)


def _of_kind(keyword: str, text: str, name: str) -> Any:
    """As `tilewright.compile` takes it."""
    kind = get_type_hints(Keywords).get(keyword, str)
    if kind is bool:
        if text not in ("true", "false"):
            raise unreadable(f"'{name}={text}' is neither true nor false", f"write {name}=true,false")
        return text == "true"
    if kind not in (int, float):
        return text
    try:
        return kind(text)
    except ValueError:
        raise unreadable(f"'{name}={text}' is no number", f"write {name}=1,2,4") from None
