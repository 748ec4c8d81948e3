"""Every module has a test of its own where one looks for it, or a line in `unmirrored.txt` that says what tests it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("unmirrored.txt")


def modules() -> Iterator[tuple[str, str]]:
    """Every module of every package, and its mirrored test; folders, which only say what their modules offer, aside.

    The layers of `tilewright.api` are made by a tool and hold names alone: the examples of a layer are its test.
    """
    for package in (ROOT / "core", *sorted((ROOT / "plugins").iterdir())):
        for module in sorted(package.glob("src/tilewright*/**/*.py")):
            if module.name != "__init__.py":
                inside = Path(*module.relative_to(package / "src").parts[1:])
                mirror = package / "tests" / inside.with_name(f"test_{inside.name}")
                if inside.parent == Path("api"):
                    mirror = ROOT / "docs" / "api" / f"{inside.stem}_examples.py"
                yield str(module.relative_to(ROOT)), str(mirror.relative_to(ROOT))


def listed() -> dict[str, str]:
    """Module without a mirrored test -> the test that holds it instead."""
    lines = [line.split() for line in LIST.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    found = {line[0]: line[1] for line in lines}
    assert len(found) == len(lines), "a module is listed twice"
    return found


def test_every_module_has_its_test_or_its_line() -> None:
    missing = [module for module, mirror in modules() if not (ROOT / mirror).exists()]
    assert sorted(set(missing) - set(listed())) == [], "write the mirrored test"
    assert sorted(set(listed()) - set(missing)) == [], "take the line out of unmirrored.txt"


def test_what_holds_an_unmirrored_module_is_there() -> None:
    assert [holder for holder in listed().values() if not (ROOT / holder).exists()] == []
