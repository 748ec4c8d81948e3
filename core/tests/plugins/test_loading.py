"""Which plugins a job imports, and what becomes of it where one of them is broken."""

from __future__ import annotations

import pytest

from core.tests.plugins.packages import BROKEN, module, package
from tilewright.errors import TilewrightError
from tilewright.plugins.catalogue import Catalogue
from tilewright.plugins.loading import load_boards, load_named, load_packs

KERNELS = "@hookimpl\ndef tilewright_kernels():\n    return [Kernel(name='{name}', op='Clip')]\n"
FALLEN = "@hookimpl\ndef tilewright_kernels():\n    return 1 / 0\n"


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three that offer a kernel (two of them the same), and one that is broken."""
    for name, kernel in (("one", "k.one"), ("two", "k.two"), ("twin", "k.one")):
        module(monkeypatch, name, KERNELS.format(name=kernel))
    module(monkeypatch, "fallen", FALLEN)


def catalogue(*names: str) -> Catalogue:
    return Catalogue(packages=tuple(package(name, f"kernel.{name}", reference=name) for name in names))


def test_only_what_is_named(modules: None) -> None:
    registry = load_named(("kernel", "one"), catalogue=catalogue("fallen", "one", "two"))
    assert list(registry.kernels) == ["k.one"] and registry.diagnostics == ()


def test_a_named_one_must_work(modules: None) -> None:
    with pytest.raises(TilewrightError, match="kernel 'fallen' needs plugin fallen") as caught:
        load_named(("kernel", "fallen"), catalogue=catalogue("fallen"))
    assert caught.value.code == "TW8006"


@pytest.mark.parametrize(("welcome", "warnings"), [
    ([("kernel", "fallen"), ("kernel", "missing")], ["TW8006"]), ([("kernel", "two")], [])
])  # fmt: skip
def test_a_welcome_one_need_not(welcome: list[tuple[str, str]], warnings: list[str], modules: None) -> None:
    registry = load_named(("kernel", "one"), welcome=welcome, catalogue=catalogue("fallen", "one", "two"))
    assert "k.one" in registry.kernels and ("k.two" in registry.kernels) == (not warnings)
    assert [each.code for each in registry.diagnostics] == warnings


def test_what_is_needed_and_welcome_is_needed(modules: None) -> None:
    both = ("kernel", "fallen")
    with pytest.raises(TilewrightError, match="kernel 'fallen' needs"):
        load_named(both, welcome=[both], catalogue=catalogue("fallen"))


def test_packs_for_every_target(modules: None) -> None:
    """Broken and clashing ones are left out with a warning each; so are those that metadata rules out."""
    packs = catalogue("fallen", "one", "two", "twin")
    unfit = package("bad", "kernel.more", reference="nowhere", fault=BROKEN)
    registry = load_packs(Catalogue(packages=(unfit, *packs.packages)))
    assert list(registry.kernels) == ["k.two"]
    assert sorted(each.code for each in registry.diagnostics) == ["TW8004", "TW8006", "TW8007"]


def test_who_is_needed_wins_a_clash(modules: None) -> None:
    registry = load_named(("kernel", "one"), welcome=[("kernel", "twin")], catalogue=catalogue("one", "twin"))
    assert registry.provenance["kernel", "k.one"].distribution == "one"
    assert [each.code for each in registry.diagnostics] == ["TW8007"]
    with pytest.raises(TilewrightError, match="is offered by one"):
        load_named(("kernel", "one"), ("kernel", "twin"), catalogue=catalogue("one", "twin"))


BOARDS = """
from tilewright.ir.machines.board import Board
@hookimpl
def tilewright_boards():
    return [Board(source="one", name="one"), Board(source="two", name="two")]
"""


def test_boards_are_loaded_for_who_asks_and_for_no_compilation(modules: None, monkeypatch: pytest.MonkeyPatch) -> None:
    module(monkeypatch, "boards", BOARDS)
    packages = (package("boards", "board.acme", reference="boards"), *catalogue("one").packages)
    assert list(load_boards(Catalogue(packages=packages)).boards) == ["one", "two"]
    assert load_packs(Catalogue(packages=packages)).boards == {}
    assert list(load_packs(Catalogue(packages=packages), welcome=[("board", "acme")]).boards) == ["one", "two"]


def test_boards_of_a_broken_package_are_left_out_with_a_warning(modules: None, monkeypatch: pytest.MonkeyPatch) -> None:
    module(monkeypatch, "boards", BOARDS)
    module(monkeypatch, "broken", BOARDS.replace("return [", "return 1 / 0, ["))
    unfit = package("bad", "board.more", reference="nowhere", fault=BROKEN)
    packages = (package("a", "board.a", reference="boards"), package("b", "board.b", reference="broken"), unfit)
    registry = load_boards(Catalogue(packages=packages))
    assert list(registry.boards) == ["one", "two"]
    assert sorted(each.code for each in registry.diagnostics) == ["TW8004", "TW8006"]
