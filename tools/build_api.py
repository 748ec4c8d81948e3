"""Writes the modules of `tilewright.api` from the table beside it, api.toml: one for each layer, every name explicit.
Usage: python tools/build_api.py [FOLDER]; the folder is that of the package unless given. A test compares the two.
"""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_name("api.toml")
FOLDER = ROOT / "core" / "src" / "tilewright" / "api"
COLUMNS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One module of the API. `names`: module that a name comes from -> names, in the order of the reference."""

    name: str  # "root" is `tilewright.api` itself
    readers: str  # whom it is for
    about: str
    names: Mapping[str, tuple[str, ...]]

    @property
    def module(self) -> str:
        """What a plugin imports."""
        return "tilewright.api" if self.name == "root" else f"tilewright.api.{self.name}"

    @property
    def all_names(self) -> tuple[str, ...]:
        """In the order of the reference."""
        return tuple(name for names in self.names.values() for name in names)


def layers() -> tuple[Layer, ...]:
    """The table. ValueError where a name is in two layers."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    result = tuple(
        Layer(
            name=name,
            readers=entry["for"],
            about=entry["about"].strip(),
            names={home: tuple(names.split()) for home, names in entry["names"].items()},
        )
        for name, entry in table.items()
    )
    every = [name for layer in result for name in layer.all_names]
    twice = sorted({name for name in every if every.count(name) > 1})
    if twice:
        raise ValueError(f"in two layers: {', '.join(twice)}")
    return result


def modules() -> dict[str, str]:
    """File -> text, for every layer."""
    return {"__init__.py" if layer.name == "root" else f"{layer.name}.py": _module(layer) for layer in layers()}


def _module(layer: Layer) -> str:
    imports = [
        _listed(f"from {home} import ", "()", sorted(names, key=lambda name: (_kind(name), name.lower())))
        for home, names in sorted(layer.names.items())
    ]
    exported = sorted(layer.all_names, key=lambda name: (_kind(name), name))
    exports = _listed("__all__ = ", "[]", [f'"{name}"' for name in exported], always=True)
    return "\n".join((*_docstring(layer), "", *imports, "", exports, ""))


def _docstring(layer: Layer) -> Iterator[str]:
    about = textwrap.wrap(" ".join(layer.about.split()), COLUMNS, break_on_hyphens=False)
    yield f'"""For {layer.readers}.'
    yield from ("", *about, "", "Made by tools/build_api.py: change tools/api.toml, not this file.", '"""')


def _listed(start: str, brackets: str, items: list[str], *, always: bool = False) -> str:
    """On one line where it fits, bracketed only where `always`; otherwise one item a line."""
    line = f"{start}{brackets[0] * always}{', '.join(items)}{brackets[1] * always}"
    if len(line) <= COLUMNS:
        return line
    return "\n".join((start + brackets[0], *(f"    {item}," for item in items), brackets[1]))


def _kind(name: str) -> int:
    """What ruff sorts by first: constants, classes, functions."""
    return 0 if name.isupper() else 1 if name[0].isupper() else 2


def main(folder: Path) -> None:
    """Write every module, and remove the ones that are made no more."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.py"):
        old.unlink()
    for name, text in modules().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    from folder_argument import folder_asked

    main(folder_asked(__doc__, FOLDER))
