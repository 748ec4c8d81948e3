"""Knows how to make a dataclass whose fields and methods are worked out when first asked for. Does not know what any
class holds.

`dataclasses.dataclass` looks at every field, and writes and compiles six functions for each class, 0.4 ms; a
compilation imports 350 classes, makes values of two thirds of them and compares few. Here a class has its slots at
once, 0.04 ms, and the rest when somebody asks for it. Descriptions of fields, and what shows and copies a value, are
the library's; `__init__`, hashes and comparisons are written here, in a third of the time that it needs for them.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field
from functools import cache
from types import CodeType, FunctionType, MemberDescriptorType
from typing import Any, NamedTuple, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)
_FIELDS = "__dataclass_fields__"
_NONE = {"init": False, "repr": False, "eq": False, "slots": False}
_ALWAYS = ("__init__", "__repr__", "__eq__")
_OF_FROZEN = ("__hash__", "__getstate__", "__setstate__")
_ORDERED = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
_COMPARED = {"__eq__": "==", **_ORDERED}
_METHODS: Mapping[str, Mapping[str, bool]] = {  # name -> what the library is asked for, where it writes it
    "__init__": {**_NONE, "init": True},
    "__repr__": {**_NONE, "repr": True},
    "__getstate__": {**_NONE, "slots": True},
    "__setstate__": {**_NONE, "slots": True},
}
_NO_FIELDS = ("ClassVar", "typing.ClassVar", "InitVar", "KW_ONLY", "dataclasses.")  # what they are is the library's


@dataclass_transform(field_specifiers=(dataclasses.field,))
def dataclass(
    *, slots: bool, frozen: bool = False, kw_only: bool = False, order: bool = False
) -> Callable[[Class], Class]:
    """`dataclasses.dataclass` with these arguments. The library makes heirs, classes without slots, and those with
    annotations that are no fields."""

    def made(plain: Any) -> Any:
        annotated = vars(plain).get("__annotations__") or inspect.get_annotations(plain)
        heir = any(_FIELDS in vars(base) for base in plain.__mro__[1:])
        if heir or not slots or any(str(kind).startswith(_NO_FIELDS) for kind in annotated.values()):
            return dataclasses.dataclass(slots=slots, frozen=frozen, kw_only=kw_only, order=order)(plain)
        later = _Fields(annotated, {name: vars(plain).get(name, MISSING) for name in annotated}, kw_only)
        names = (*_ALWAYS, *(_OF_FROZEN if frozen else ()), *(_ORDERED if order else ()))
        later.made = _with_slots(plain, later, {name: _at_first(name, later, frozen) for name in names}, frozen)
        return later.made

    return made


def _with_slots(plain: Any, later: _Fields, methods: Mapping[str, Any], frozen: bool) -> Any:
    """The class with slots for its fields, in whose places defaults stood, and with methods that it has not."""
    own = dict(vars(plain))
    for name in (*later.given, "__dict__", "__weakref__"):
        own.pop(name, None)
    if not frozen:
        own.setdefault("__hash__", None)
    return type(plain)(
        plain.__name__,
        plain.__bases__,
        {
            **methods,
            **own,
            **(_NO_CHANGES if frozen else {}),
            "__slots__": tuple(later.given),
            "__match_args__": later.positions(),
            "__doc__": plain.__doc__ or plain.__name__,
            "__qualname__": plain.__qualname__,
            "__signature__": _Signature(),
            "__dataclass_params__": _PARAMETERS[frozen],  # heirs look at it
            _FIELDS: later,
        },
    )


class _OneField(NamedTuple):
    """What methods must know of a field. At most one of `default` and `factory` is there."""

    name: str
    default: Any = MISSING
    factory: Any = MISSING
    by_keyword: bool = False
    is_argument: bool = True  # of `__init__`; what is none is given its value by the class itself
    is_compared: bool = True

    @property
    def is_given(self) -> bool:
        """Whether a caller may leave it out."""
        return self.default is not MISSING or self.factory is not MISSING


class _Fields:
    """The fields of a class, in order; as the library describes them, once somebody asks the class for them."""

    made: Any  # the class, as soon as it is there

    def __init__(self, annotated: Mapping[str, Any], given: Mapping[str, Any], kw_only: bool) -> None:
        self.annotated, self.given, self.kw_only = annotated, given, kw_only

    def __get__(self, value: object, owner: Any) -> Any:
        names = {one: given for one, given in self.given.items() if given is not MISSING}
        for name in ("__module__", "__doc__"):
            names[name] = getattr(self.made, name)
        model = type(self.made.__name__, (), {**names, "__annotations__": self.annotated})
        fields = vars(dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=self.kw_only)(model))[_FIELDS]
        setattr(self.made, _FIELDS, fields)
        return fields

    def __iter__(self) -> Iterator[_OneField]:
        for name, given in self.given.items():
            if isinstance(given, Field):
                by_keyword = self.kw_only if given.kw_only is MISSING else bool(given.kw_only)
                yield _OneField(name, given.default, given.default_factory, by_keyword, given.init, given.compare)
            else:
                yield _OneField(name, given, by_keyword=self.kw_only)

    def positions(self) -> tuple[str, ...]:
        """The arguments of `__init__` that need no keyword."""
        return tuple(one.name for one in self if one.is_argument and not one.by_keyword)


@dataclasses.dataclass(frozen=True)
class _Frozen:
    """A class of which the library remembers that it is frozen."""


@dataclasses.dataclass
class _Open:
    """One that is not."""


def _no_setattr(_: object, name: str, __: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_delattr(_: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


_PARAMETERS = {frozen: vars(one)["__dataclass_params__"] for frozen, one in ((True, _Frozen), (False, _Open))}
_NO_CHANGES = {"__setattr__": _no_setattr, "__delattr__": _no_delattr}


def _at_first(name: str, later: _Fields, frozen: bool) -> Callable[..., Any]:
    """A method that puts the right one in its place."""

    def first(self: object, *arguments: Any, **named: Any) -> Any:
        made = later.made
        if name == "__init__" and all(one.is_argument for one in later):
            method = _init(made, later, frozen)
        elif name == "__hash__" or name in _COMPARED:
            method = _comparison(made, name, later)
        else:
            method = vars(_model(made, frozen, **_METHODS[name]))[name]
        setattr(made, name, method)
        return method(self, *arguments, **named)

    return first


def _init(made: Any, later: _Fields, frozen: bool) -> Callable[..., None]:
    """`__init__` of a class all of whose fields are arguments: in their order, those by keyword alone last."""
    ordered = sorted(later, key=lambda one: one.by_keyword)
    names: dict[str, Any] = {"__missing": MISSING}
    lines = []
    for number, one in enumerate(ordered):
        value = f"_{number}"
        if one.factory is not MISSING:
            names[f"__made{number}"] = one.factory
            value = f"__made{number}() if {value} is __missing else {value}"
        if frozen:
            names[f"__set{number}"] = _setter(made, one.name)
        lines.append(f" __set{number}(self, {value})" if frozen else f" self._{number} = {value}")
    if _checks(made):
        lines.append(" self.__post_init__()")
    text = "\n".join((f"def __init__({_arguments(ordered)}):", *(lines or [" pass"])))
    method = _written(made, "__init__", text, names, [one.name for one in ordered])
    method.__defaults__ = tuple(one.default for one in ordered if one.is_given and not one.by_keyword)
    method.__kwdefaults__ = {one.name: one.default for one in ordered if one.is_given and one.by_keyword}
    return method


def _arguments(ordered: Sequence[_OneField]) -> str:
    """Of `__init__`. What is given where a caller says nothing is not part of the text, so that fewer are compiled."""
    places = [one for one in ordered if not one.by_keyword]
    if sorted(places, key=lambda one: one.is_given) != places:
        raise TypeError(f"of {', '.join(one.name for one in places)}, one without a default follows one that has one")
    words = [f"_{number}" for number in range(len(ordered))]
    return ", ".join(("self", *words[: len(places)], *("*",) * (len(places) < len(words)), *words[len(places) :]))


def _comparison(made: Any, name: str, later: _Fields) -> Callable[..., Any]:
    """`__hash__`, or what compares two values of the class, of those fields that are compared."""
    compared = [one.name for one in later if one.is_compared]
    own, theirs = ("".join(f"{value}._{one}, " for one in range(len(compared))) for value in ("self", "other"))
    text = f"def __hash__(self):\n return hash(({own}))"
    if name != "__hash__":
        result = f"({own}) {_COMPARED[name]} ({theirs})"
        text = f"def {name}(self, other):\n return {result} if other.__class__ is self.__class__ else NotImplemented"
    return _written(made, name, text, {}, compared)


def _written(made: Any, name: str, text: str, names: dict[str, Any], fields: Sequence[str]) -> Callable[..., Any]:
    """The method that a text defines, in which `_0` stands for the first of these fields."""
    spelled = {f"_{number}": field for number, field in enumerate(fields)}
    code = _compiled(name, text)
    method = FunctionType(
        code.replace(
            co_varnames=tuple(spelled.get(name, name) for name in code.co_varnames),
            co_names=tuple(spelled.get(name, name) for name in code.co_names),
        ),
        names,
    )
    method.__qualname__, method.__module__ = f"{made.__qualname__}.{name}", made.__module__
    return method


@cache
def _compiled(name: str, text: str) -> CodeType:
    """What a text defines; compiled once for all classes with as many fields."""
    names: dict[str, Any] = {}
    exec(text, names)
    method: FunctionType = names[name]
    return method.__code__


def _setter(made: Any, name: str) -> Callable[[object, Any], None]:
    """What gives a field of a frozen value its value: its slot, in half the time of `object.__setattr__`."""
    slot = vars(made).get(name)
    if isinstance(slot, MemberDescriptorType):
        return slot.__set__
    return lambda value, given: object.__setattr__(value, name, given)


def _checks(made: Any) -> bool:
    """Whether a class looks at the values of its fields."""
    return any("__post_init__" in vars(base) for base in made.__mro__)


def _model(made: Any, frozen: bool, **asked: bool) -> type:
    """A class with the same fields, of the library's making."""
    fields = [(one.name, one.type, one) for one in dataclasses.fields(made)]
    names = {"__module__": made.__module__, "__qualname__": made.__qualname__, "__doc__": made.__doc__}
    if _checks(made):
        names["__post_init__"] = made.__post_init__
    make: Callable[..., type] = dataclasses.make_dataclass
    return make(made.__name__, fields, namespace=names, frozen=frozen, **asked)


class _Signature:
    """What `inspect.signature` shows of the class."""

    def __get__(self, value: object, owner: Any) -> inspect.Signature:
        return inspect.signature(_model(owner, frozen=False, **_METHODS["__init__"]))
