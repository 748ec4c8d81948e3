"""Knows how frozen values become JSON and come back, from their type hints alone: one codec for all of them.
Does not know files, stages or plugins; what is not plain data is handed to a `Reference`.

Every dataclass is an object with its fields; inside a union it also says its `$type`. Tuples are lists, floats that
JSON has no number for are `{"float": "inf"}`. Decoding checks every type and says where one is wrong.

No library's: cattrs takes "12", 1.7 and True for integers and "abc" for a tuple of texts, and has no way for unions
like that of an attribute, nor for hints of names that are imported while types are checked only. With hooks for all of
these, its share would be the 15 lines that go through the fields of a class.
"""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
_Value = TypeVar("_Value")
_TYPE = "$type"  # never the name of a field
DERIVED: Mapping[str, bool] = types.MappingProxyType({"derived": True})  # of a field that follows from the others


@dataclass(frozen=True, slots=True)
class Reference:
    """How values of one type are written by name and found again. `find` raises ValueError."""

    write: Callable[[Any], Json]
    find: Callable[[Json], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """Both directions. `references` are by type; arrays go through `put` and `get`, which raises ValueError."""

    put: Callable[[Array], Json]
    get: Callable[[Json], Array]
    references: Mapping[type, Reference] = field(default_factory=dict)
    complete: Mapping[type, Callable[[Any], object]] = field(default_factory=dict)  # fills in the fields `DERIVED`

    def encode(self, value: object, hint: Any) -> Json:
        """`value`, whose type is `hint`, as JSON data. TypeError when it is of another type."""
        return self._encode(value, hint)

    def decode(self, data: Json, hint: type[_Value]) -> _Value:
        """The value. ValueError naming the path to what is wrong."""
        return cast(_Value, self._decode(data, hint, ""))

    def _encode(self, value: Any, hint: Any) -> Json:
        origin, arguments = get_origin(hint), get_args(hint)
        if hint in self.references:
            return self.references[hint].write(value)
        if origin in (Union, types.UnionType):
            return self._encode_union(value, arguments)
        if _is_array(hint):
            return self.put(value)
        if origin is tuple:
            item_hints = arguments[:1] * len(value) if arguments[-1] is Ellipsis else arguments
            return [self._encode(item, item_hint) for item, item_hint in zip(value, item_hints, strict=True)]
        if origin is not None and issubclass(origin if isinstance(origin, type) else object, Mapping):
            return {str(key): self._encode(item, arguments[1]) for key, item in value.items()}
        if _is_named_tuple(hint):
            return [self._encode(item, item_hint) for item, item_hint in zip(value, _hints(hint).values(), strict=True)]
        if isinstance(hint, type) and is_dataclass(hint):
            hints = _hints(hint)
            return {item.name: self._encode(getattr(value, item.name), hints[item.name]) for item in _stored(hint)}
        return _plain(value)

    def _encode_union(self, value: Any, hints: tuple[Any, ...]) -> Json:
        if value is None:
            return None
        if is_dataclass(value):
            encoded = self._encode(value, type(value))
            return {_TYPE: type(value).__name__, **cast(dict[str, Json], encoded)}
        if isinstance(value, tuple):
            return [_plain(item) for item in value]
        return _plain(value)

    def _decode(self, data: Json, hint: Any, path: str) -> object:
        origin, arguments = get_origin(hint), get_args(hint)
        if hint in self.references:
            return self.references[hint].find(data)
        if origin in (Union, types.UnionType):
            return self._decode_union(data, arguments, path)
        if origin is Literal:
            return _demand(data in arguments, data, path, f"one of {', '.join(map(str, arguments))}")
        if _is_array(hint):
            return self.get(data)
        if origin is tuple:
            return self._decode_tuple(data, arguments, path)
        if origin is not None and issubclass(origin if isinstance(origin, type) else object, Mapping):
            mapping = cast(dict[str, Json], _demand(isinstance(data, dict), data, path, "an object"))
            return {key: self._decode(item, arguments[1], f"{path}.{key}") for key, item in mapping.items()}
        if _is_named_tuple(hint):
            return hint(*self._decode_tuple(data, tuple(_hints(hint).values()), path))
        if isinstance(hint, type) and is_dataclass(hint):
            return self._decode_dataclass(data, hint, path)
        return _typed(data, hint, path)

    def _decode_tuple(self, data: Json, arguments: tuple[Any, ...], path: str) -> tuple[object, ...]:
        items = cast(list[Json], _demand(isinstance(data, list), data, path, "a list"))
        hints = arguments[:1] * len(items) if arguments[-1:] == (Ellipsis,) else arguments
        _demand(len(hints) == len(items), data, path, f"a list of {len(hints)}")
        return tuple(self._decode(item, hints[index], f"{path}[{index}]") for index, item in enumerate(items))

    def _decode_dataclass(self, data: Json, hint: type, path: str) -> object:
        mapping = cast(dict[str, Json], _demand(isinstance(data, dict), data, path, f"a {hint.__name__}"))
        hints = _hints(hint)
        known = {item.name: item for item in _stored(hint)}
        for name in mapping:
            _demand(name in known or name == _TYPE, name, path, f"a field of {hint.__name__}")
        for name, item in known.items():
            absent = name not in mapping and item.default is MISSING and item.default_factory is MISSING
            _demand(not absent, data, path, f"a {hint.__name__} with its field {name}")
        names = [name for name in known if name in mapping]
        value = hint(**{name: self._decode(mapping[name], hints[name], f"{path}.{name}") for name in names})
        return self.complete[hint](value) if hint in self.complete else value

    def _decode_union(self, data: Json, hints: tuple[Any, ...], path: str) -> object:
        tag = data.get(_TYPE) if isinstance(data, dict) else None
        for hint in hints:
            tagged = isinstance(hint, type) and is_dataclass(hint)
            if tagged != (tag is not None) or (tagged and hint.__name__ != tag):
                continue
            try:
                return self._decode(data, hint, path)
            except ValueError:
                if tagged:
                    raise
        return _demand(False, data, path, "of another type")


@lru_cache(maxsize=256)
def _hints(hint: type) -> dict[str, Any]:
    """Type hints of a dataclass, of the fields that are written; arrays are only imported while types are checked."""
    import numpy as np
    import numpy.typing as npt

    derived = {item.name for item in fields(hint) if item.metadata == DERIVED} if is_dataclass(hint) else set()
    annotations = {
        name: annotation
        for base in reversed(hint.__mro__)
        for name, annotation in vars(base).get("__annotations__", {}).items()
        if name not in derived
    }
    names = {**vars(sys.modules[hint.__module__]), "np": np, "npt": npt, "Array": npt.NDArray[np.generic]}
    return get_type_hints(types.SimpleNamespace(__annotations__=annotations), globalns=names)


def _is_named_tuple(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, tuple) and bool(get_type_hints(hint))


def _stored(hint: type) -> tuple[Field[Any], ...]:
    """The fields that are written."""
    return tuple(item for item in fields(hint) if item.metadata != DERIVED)


def _is_array(hint: Any) -> bool:
    """An array type: newer numpy declares `NDArray` with a `type` statement, which keeps its own name as origin."""
    import numpy as np
    import numpy.typing as npt

    return hint is np.ndarray or get_origin(hint) in (np.ndarray, npt.NDArray)


def _plain(value: Any) -> Json:
    import numpy as np

    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return cast(Json, value)
    raise TypeError(f"{value!r} is no plain data")


def _typed(data: Json, hint: Any, path: str) -> object:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(_demand(data in [item.value for item in hint], data, path, f"a {hint.__name__}"))
    if hint is type(None):
        return _demand(data is None, data, path, "null")
    if hint is bool:
        return _demand(isinstance(data, bool), data, path, "true or false")
    if hint is str:
        return _demand(isinstance(data, str), data, path, "a string")
    if hint is int:
        return _demand(isinstance(data, int) and not isinstance(data, bool), data, path, "an integer")
    if hint is float and isinstance(data, dict) and data.get("float") in ("inf", "-inf", "nan"):
        return float(str(data["float"]))
    if hint is float:
        return _demand(isinstance(data, (int, float)) and not isinstance(data, bool), data, path, "a number")
    raise TypeError(f"{path}: no way to decode a {hint}")


def _demand(condition: bool, data: Any, path: str, wanted: str) -> Any:
    if condition:
        return data
    shown = repr(data)
    raise ValueError(f"{path.lstrip('.') or 'the value'}: {shown[:60]} is not {wanted}")
