"""What is installed, by metadata alone: read from folders as pip leaves them, and asked for by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.tests.plugins.packages import BROKEN, package
from tilewright import __version__
from tilewright.errors import Exit, TilewrightError
from tilewright.plugins.catalogue import Catalogue, Offer, Package, discover


def install(folder: Path, name: str, entries: str, requires: str = "") -> None:
    """The metadata of a package, and nothing of what it offers."""
    info = folder / f"{name.replace('-', '_')}-1.2.dist-info"
    info.mkdir(parents=True)
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n{needs}", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[tilewright.v1]\n{entries}\n", encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def found(name: str, **environment: str) -> Package:
    (one,) = (each for each in discover(environment).packages if each.name == name)
    return one


def test_offers_by_kind_target_and_name(site: Path) -> None:
    install(site, "Acme_Chips", "platform.acme = acme.deep:plugin\nkernel.acme.fast = acme\nkernel.any = acme", "numpy")
    acme = found("acme-chips")
    assert (acme.version, acme.fault, acme.requirement) == ("1.2", None, "")
    assert acme.offers == (
        Offer(kind="kernel", name="any", reference="acme"),
        Offer(kind="kernel", target="acme", name="fast", reference="acme"),
        Offer(kind="platform", name="acme", reference="acme.deep:plugin"),
    )
    assert [each.title for each in acme.offers] == ["kernel.any", "kernel.acme.fast", "platform.acme"]


@pytest.mark.parametrize(("requires", "requirement", "cause"), [
    (f"tilewright>={__version__}", f"tilewright>={__version__}", ""),
    ("Tilewright<0.0.1", "tilewright<0.0.1", f"it needs tilewright<0.0.1, and this is tilewright {__version__}"),
    ('tilewright<0.0.1; python_version < "3"', "", ""),  # does not apply
    ("tilewright!!1", "", "has a requirement that cannot be read: 'tilewright!!1'"),
])  # fmt: skip
def test_what_a_package_asks_of_the_core(requires: str, requirement: str, cause: str, site: Path) -> None:
    install(site, "acme", "runner.acme = acme", requires)
    acme = found("acme")
    assert acme.requirement == requirement
    assert cause in acme.fault.cause if acme.fault else not cause


@pytest.mark.parametrize("entry", ["platfrom.acme", "platform", "platform.", "kernel.acme."])
def test_entry_points_that_name_nothing(entry: str, site: Path) -> None:
    install(site, "acme", f"{entry} = acme\nrunner.good = acme")
    acme = found("acme")
    assert acme.fault is not None and acme.fault.code == "TW8010"
    assert f"entry point '{entry}' is not named KIND.NAME" in acme.fault.cause
    assert [each.title for each in acme.offers] == ["runner.good"]


def test_blocked_by_any_spelling(site: Path) -> None:
    install(site, "acme-chips", "runner.acme = acme")
    acme = found("acme-chips", TILEWRIGHT_BLOCK=" Acme.Chips, nobody ,")
    assert acme.fault is not None and acme.fault.status == "blocked"
    assert discover({"TILEWRIGHT_BLOCK": " Acme.Chips, nobody ,"}).unknown_blocks == ("nobody",)


CATALOGUE = Catalogue(packages=(
    package("a", "platform.acme", "kernel.fast", "kernel.acme.one"),
    package("b", "kernel.acme.one", "runner.twin"),
    package("c", "runner.twin", "allocator.minimalloc2"),
    package("bad", "platform.broken", "kernel.acme.two", fault=BROKEN),
), unknown_blocks=("nobody",))  # fmt: skip


def test_found() -> None:
    owner, offer = CATALOGUE.find("platform", "acme")
    assert (owner.name, offer.name) == ("a", "acme")


@pytest.mark.parametrize(("kind", "name", "code", "said"), [
    ("runner", "twin", "TW8007", "runner 'twin' is offered by b 1.2 and by c 1.2"),
    ("platform", "broken", "TW8004", "target 'broken' needs plugin bad 1, which cannot be used: it is broken"),
    ("platform", "acmee", "TW8001", "did you mean 'acme'?"),
    ("platform", "siracusa", "TW8001", "pip install tilewright-siracusa"),
    ("tiler", "own", "TW8001", "installed: none"),
])  # fmt: skip
def test_not_found(kind: str, name: str, code: str, said: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        CATALOGUE.find(kind, name)
    assert (caught.value.code, caught.value.exit_code) == (code, Exit.PLUGIN)
    assert said in str(caught.value)


def test_what_one_package_announces_twice_is_an_error_where_it_differs(site: Path) -> None:
    """As where two installations of it are found, of which one is old."""
    install(site, "acme", "allocator.best = acme.new\nrunner.acme = acme\nallocator.best = acme.old\nrunner.acme= acme")
    assert len(found("acme").offers) == 3
    catalogue = discover({})
    assert catalogue.find("runner", "acme")[1].reference == "acme"
    with pytest.raises(TilewrightError, match=r"allocator 'best' is offered by acme 1\.2, 2 times") as caught:
        catalogue.find("allocator", "best")
    assert (caught.value.code, caught.value.exit_code) == ("TW8007", Exit.PLUGIN)


def test_packs_are_for_one_target_or_for_all() -> None:
    assert [offer.title for _, offer in CATALOGUE.packs("acme")] == ["kernel.acme.one", "kernel.acme.one"]
    assert [offer.title for _, offer in CATALOGUE.packs("")] == ["kernel.fast"]


def test_what_is_welcome_is_missed_by_nobody() -> None:
    named = [("allocator", "minimalloc2"), ("allocator", "other"), ("platform", "broken")]
    assert [offer.title for _, offer in CATALOGUE.welcome(named)] == ["allocator.minimalloc2"]


def test_names_and_warnings() -> None:
    """Names of packs may be alike: they are labels only."""
    assert CATALOGUE.names("platform") == ("acme", "broken")
    assert [fault.cause for fault in CATALOGUE.clashes()] == ["'runner.twin' is offered by b 1.2 and by c 1.2"]
    assert [each.code for each in CATALOGUE.warnings()] == ["TW8004", "TW8007", "TW8011"]


@pytest.mark.parametrize(("board", "target"), [("nucleo-f401re", "cortex-m4"), ("my-board", None)])
def test_a_board_that_nobody_offers(board: str, target: str | None) -> None:
    with pytest.raises(TilewrightError) as caught:
        discover(environment={}).find("memory_hierarchy", board)
    assert any("--board FILE.toml" in line for line in caught.value.fix)
    assert [line.split()[1] for line in caught.value.fix if line.startswith("--target")] == [target] * (
        target is not None
    )
