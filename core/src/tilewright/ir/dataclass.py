"""Knows how to make a dataclass whose methods are written when first called. Does not know what any class holds.

`dataclasses.dataclass` writes and compiles six functions for each class, 0.4 ms; a compilation imports 350 classes,
makes values of two thirds of them and compares few. Here fields and slots are the library's at once, and methods come
when somebody asks for them: `__init__`, `__eq__` and `__hash__` are written here, in a third of the time that the
library needs for a class with nothing but that, or less; the others are the library's.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from types import MemberDescriptorType
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)
_NONE = {"init": False, "repr": False, "eq": False, "slots": False}
_METHODS: Mapping[str, Mapping[str, bool]] = {  # name -> what the library is asked for, where it writes it
    "__init__": {**_NONE, "init": True},
    "__repr__": {**_NONE, "repr": True},
    "__eq__": _NONE,
    "__hash__": _NONE,
    "__getstate__": {**_NONE, "slots": True},
    "__setstate__": {**_NONE, "slots": True},
}


@dataclass_transform(field_specifiers=(dataclasses.field,))
def dataclass(*, slots: bool, frozen: bool = False, kw_only: bool = False) -> Callable[[Class], Class]:
    """`dataclasses.dataclass` with these arguments. Other ones are the library's alone, and so are heirs."""

    def made(plain: Any) -> Any:
        if any(dataclasses.is_dataclass(base) for base in plain.__mro__[1:]):
            return dataclasses.dataclass(slots=slots, frozen=frozen, kw_only=kw_only)(plain)
        own = frozenset(vars(plain))
        plain.__doc__ = plain.__doc__ or plain.__name__  # or the library asks `inspect` for a signature
        quick: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(plain)
        later = _METHODS if frozen else ("__init__", "__repr__", "__eq__")
        for name in set(later) - own:
            setattr(quick, name, _at_first(quick, name, frozen))
        if frozen:
            quick.__setattr__, quick.__delattr__ = _no_setattr, _no_delattr
            quick.__dataclass_params__ = vars(_Frozen)["__dataclass_params__"]  # heirs look at it
        elif "__hash__" not in own:
            quick.__hash__ = None
        quick.__signature__ = _Signature()
        return quick

    return made


@dataclasses.dataclass(frozen=True)
class _Frozen:
    """What the library remembers of a frozen class."""


def _at_first(made: Any, name: str, frozen: bool) -> Callable[..., Any]:
    """A method that puts the library's in its place."""

    def first(self: object, *arguments: Any, **named: Any) -> Any:
        if name == "__init__" and all(one.init for one in dataclasses.fields(made)):
            method = _init(made, frozen)
        elif name in ("__eq__", "__hash__"):
            method = _comparison(made, name)
        else:
            method = vars(_model(made, frozen, **_METHODS[name]))[name]
        setattr(made, name, method)
        return method(self, *arguments, **named)

    return first


def _init(made: Any, frozen: bool) -> Callable[..., None]:
    """`__init__` of a class all of whose fields are arguments: in their order, those by keyword alone last."""
    names: dict[str, Any] = {"__missing": dataclasses.MISSING}
    known = sorted(dataclasses.fields(made), key=lambda one: bool(one.kw_only))
    arguments, lines = ["self"], []
    for number, one in enumerate(known):
        if one.kw_only and "*" not in arguments:
            arguments.append("*")
        default, value = "", one.name
        if one.default is not dataclasses.MISSING:
            names[f"__{number}"], default = one.default, f"=__{number}"
        elif one.default_factory is not dataclasses.MISSING:
            names[f"__{number}"], default = one.default_factory, "=__missing"
            value = f"__{number}() if {one.name} is __missing else {one.name}"
        arguments.append(one.name + default)
        if frozen:
            names[f"__set{number}"] = _setter(made, one.name)
        lines.append(f" __set{number}(self, {value})" if frozen else f" self.{one.name} = {value}")
    if "__post_init__" in dir(made):
        lines.append(" self.__post_init__()")
    text = "\n".join((f"def __init__({', '.join(arguments)}):", *(lines or [" pass"])))
    return _written(made, "__init__", text, names)


def _comparison(made: Any, name: str) -> Callable[..., Any]:
    """`__eq__` or `__hash__`, of those fields that are compared."""
    names = [one.name for one in dataclasses.fields(made) if one.compare]
    own, theirs = ("".join(f"{value}.{one}, " for one in names) for value in ("self", "other"))
    lines = {
        "__hash__": f"def __hash__(self):\n return hash(({own}))",
        "__eq__": "def __eq__(self, other):\n"
        f" return ({own}) == ({theirs}) if other.__class__ is self.__class__ else NotImplemented",
    }
    return _written(made, name, lines[name], {})


def _written(made: Any, name: str, text: str, names: dict[str, Any]) -> Callable[..., Any]:
    """The method that a text defines."""
    exec(text, names)
    method: Callable[..., Any] = names[name]
    method.__qualname__, method.__module__ = f"{made.__qualname__}.{name}", made.__module__
    return method


def _setter(made: Any, name: str) -> Callable[[object, Any], None]:
    """What gives a field of a frozen value its value: its slot, in half the time of `object.__setattr__`."""
    slot = vars(made).get(name)
    if isinstance(slot, MemberDescriptorType):
        return slot.__set__
    return lambda value, given: object.__setattr__(value, name, given)


def _model(made: Any, frozen: bool, **asked: bool) -> type:
    """A class with the same fields, of the library's making."""
    fields = [(one.name, one.type, one) for one in dataclasses.fields(made)]
    names = {"__module__": made.__module__, "__qualname__": made.__qualname__, "__doc__": made.__doc__}
    if "__post_init__" in dir(made):
        names["__post_init__"] = made.__post_init__
    make: Callable[..., type] = dataclasses.make_dataclass
    return make(made.__name__, fields, namespace=names, frozen=frozen, **asked)


def _no_setattr(_: object, name: str, __: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_delattr(_: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


class _Signature:
    """What `inspect.signature` shows of the class."""

    def __get__(self, value: object, owner: Any) -> inspect.Signature:
        return inspect.signature(_model(owner, frozen=False, **_METHODS["__init__"]))
