"""A quick dataclass is a dataclass: whatever the library's does, it does."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, field, fields, is_dataclass, replace
from typing import ClassVar

import pytest

from tilewright.ir.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Quick:
    """One of each kind of field."""

    name: str
    size: int = 3
    seen: dict[str, int] = field(default_factory=dict, compare=False)
    secret: str = field(default="x", repr=False)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Slow:
    """The same, made by the library."""

    name: str
    size: int = 3
    seen: dict[str, int] = field(default_factory=dict, compare=False)
    secret: str = field(default="x", repr=False)


@dataclass(frozen=True, slots=True)
class Pair:
    first: int
    second: int = 2


@dataclass(slots=True)
class Box:
    """Not frozen."""

    items: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Checked:
    """Looks at its values."""

    size: int

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heir(Quick):
    """Adds a field."""

    more: int = 0


@dataclass(frozen=True, slots=True)
class Said:
    """Says itself how it is compared and shown."""

    size: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Said)

    def __hash__(self) -> int:
        return 7

    def __repr__(self) -> str:
        return "said"


@dataclass(frozen=True, slots=False)
class Open:
    """A frozen class whose values have a dictionary."""

    size: int


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """Values have an order, of those fields that are compared."""

    major: int
    minor: int = 0
    said: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Counted:
    """Has an annotation that is no field."""

    most: ClassVar[int] = 3
    count: int


@dataclass(frozen=True, slots=True)
class Nothing:
    """No field at all."""


def test_it_shows_itself_as_the_librarys_does() -> None:
    assert repr(Quick(name="a")) == repr(Slow(name="a")).replace("Slow", "Quick")
    assert str(inspect.signature(Quick)) == str(inspect.signature(Slow))
    assert [one.name for one in fields(Quick)] == [one.name for one in fields(Slow)]


def test_equal_values_are_equal_and_hash_alike() -> None:
    assert Quick(name="a") == Quick(name="a", seen={"b": 1}) != Quick(name="b")
    assert hash(Quick(name="a")) == hash(Quick(name="a")) == hash(Slow(name="a"))
    assert Quick(name="a") != Slow(name="a")
    assert Pair(1) == Pair(1, 2) != Pair(2)
    assert len({Pair(1), Pair(1), Pair(2)}) == 2
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(())


def test_a_default_before_what_has_none_is_refused() -> None:
    """When the first value is made; the library refuses when the class is."""

    @dataclass(frozen=True, slots=True)
    class Wrong:
        first: int = 1
        second: int

    with pytest.raises(TypeError, match="of first, second, one without a default follows one that has one"):
        Wrong(1, 2)


def test_classes_of_as_many_fields_keep_their_own_names_and_defaults() -> None:
    """What they do is compiled once for both."""

    @dataclass(frozen=True, slots=True)
    class Other:
        one: int
        two: int = 7

    assert (Other(1).two, Pair(1).second) == (7, 2)
    assert (Other(two=3, one=4).one, Pair(first=5).first) == (4, 5)
    assert Other(1, 2) != Pair(1, 2)
    with pytest.raises(TypeError, match="first"):
        Other(first=1)


def test_each_value_has_a_default_of_its_own() -> None:
    assert Box().items is not Box().items
    assert Box([1]).items == [1]


def test_a_frozen_value_cannot_be_changed_and_another_can() -> None:
    value, box = Quick(name="a"), Box()
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        value.name = "b"
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
        del value.name
    with pytest.raises(FrozenInstanceError):
        Open(3).size = 4
    assert Open(3) == Open(size=3)
    box.items = [3]
    assert box.items == [3]
    with pytest.raises(TypeError, match="unhashable"):
        hash(box)


@dataclass(frozen=True, slots=True)
class Derived:
    """One field is no argument."""

    first: int
    derived: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "derived", 2 * self.first)


@dataclass(frozen=True, slots=True)
class Sorted:
    """Fields by keyword alone stand among the others."""

    named: int = field(kw_only=True)
    first: int
    listed: list[int] = field(default_factory=list, kw_only=True)
    second: str = "x"


def test_arguments_come_in_the_librarys_order() -> None:
    assert Derived(4).derived == 8
    value = Sorted(1, "y", named=3)
    assert (value.named, value.first, value.listed, value.second) == (3, 1, [], "y")
    assert Sorted(1, named=3, listed=value.listed).listed is value.listed
    with pytest.raises(TypeError, match=r"Sorted\.__init__\(\) takes from 2 to 3 positional arguments but 4"):
        Sorted(1, "y", 3)


def test_values_have_slots_alone() -> None:
    with pytest.raises(AttributeError):
        Box().other = 1
    assert "__dict__" not in dir(Quick(name="a"))


def test_python_says_what_is_missing_and_what_is_unknown() -> None:
    with pytest.raises(TypeError, match=r"Quick\.__init__\(\) missing 1 required keyword-only argument: 'name'"):
        Quick()
    with pytest.raises(TypeError, match="unexpected keyword argument 'nam'"):
        Quick(nam="a")


def test_values_are_replaced_and_copied() -> None:
    value = Quick(name="a", seen={"b": 1})
    assert replace(value, size=5) == Quick(name="a", size=5)
    assert copy.copy(value) == value
    assert copy.copy(value).seen is value.seen


def test_a_class_looks_at_its_values() -> None:
    assert Checked(0).size == 0
    with pytest.raises(ValueError, match="negative"):
        Checked(-1)


def test_an_heir_is_a_dataclass_too() -> None:
    assert Heir(name="a", more=1) == Heir(name="a", more=1) != Quick(name="a")
    with pytest.raises(FrozenInstanceError):
        Heir(name="a").more = 2


def test_what_a_class_says_itself_stays() -> None:
    assert Said(1) == Said(2)
    assert hash(Said(1)) == 7
    assert repr(Said(1)) == "said"


def test_values_with_an_order_are_sorted() -> None:
    assert sorted([Version(2), Version(1, 5), Version(1)]) == [Version(1), Version(1, 5), Version(2)]
    assert Version(1) <= Version(1, said="other") >= Version(1)
    assert not Version(2) < Version(1, 9)
    assert Version(2) > Version(1, 9)
    with pytest.raises(TypeError, match="not supported between instances of"):
        sorted([Version(1), 1])


def test_fields_are_described_when_somebody_asks_and_then_for_good() -> None:
    @dataclass(frozen=True, slots=True)
    class Asked:
        first: int
        second: int = 2

    assert is_dataclass(Asked)
    names = [one.name for one in fields(Asked)]
    assert (names, [one.name for one in fields(Asked(1))]) == (["first", "second"], names)
    assert fields(Asked)[1] is fields(Asked)[1]
    assert dataclasses.asdict(Asked(1)) == {"first": 1, "second": 2}


def test_what_is_no_field_is_left_to_the_library() -> None:
    assert [one.name for one in fields(Counted)] == ["count"]
    assert (Counted(1).count, Counted.most) == (1, 3)


def test_positions_are_matched() -> None:
    match Pair(1, 5):
        case Pair(first, second):
            assert (first, second) == (1, 5)
    assert Quick.__match_args__ == Slow.__match_args__ == ()


def test_values_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(Pair(3, 4))) == Pair(3, 4)
    assert pickle.loads(pickle.dumps(Quick(name="a", seen={"b": 1}))).seen == {"b": 1}
    assert pickle.loads(pickle.dumps(Box([1]))) == Box([1])
