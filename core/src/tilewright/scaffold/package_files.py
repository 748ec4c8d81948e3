"""Knows the files of a new package: a target with what was asked for, or a plugin of one kind.
Does not know where they are written.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

from tilewright import __version__
from tilewright.c_text.templates import template
from tilewright.scaffold.names import PackageName

PLUGIN_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "allocator": "allocator",
        "tiler": "tiler",
        "pass": "graph_pass",
        "runner": "runner",
        "importer": "importer",
        "exporter": "exporter",
    }
)  # what `--kind` takes -> what an entry point begins with
_SUMMARIES: Mapping[str, str] = MappingProxyType(
    {
        "allocator": "Blocks first to last, each as low as those before it allow",
        "tiler": "Every layer in one piece",
        "pass": "A clip of a clip is one clip",
        "runner": "This machine, without optimisation",
        "importer": "Networks of dense layers, as lines of text",
        "exporter": "Sizes of all memories as symbols for a linker",
    }
)


def target_files(
    name: PackageName, *, dma: bool = False, engine: bool = False, simulator: bool = False
) -> dict[str, bytes]:
    """Path -> content of a package with a target: with a scratchpad and a copy engine, with an engine for matrix
    products, with a runner of its own.
    """
    plain = "twin" if dma else "host"
    tested = (f"{name.name}-sim", plain) if simulator else (plain,)
    announces = (f"platform.{name.name}", *((f"runner.{name.name}-sim",) if simulator else ()))
    parts = ["one core", *(["an engine"] if engine else []), "64 KiB of scratchpad" if dma else "256 KiB of memory"]
    known = {
        "summary": f"{name.title}: {', '.join(parts)}",
        "announces": announces,
        "data": True,
        "needs": (),
        "pytest": f"pytest --tilewright-target {name.name}",
        "dma": dma,
        "engine": engine,
        "simulator": simulator,
        "tested": tested,
        "runners": ", ".join(f'"{runner}"' for runner in tested) + ("" if simulator else ","),
    }
    sources = [
        "__init__.py", "machine.py", "kernels.py", "relu.h", *(["engine.py", "engine.h"] if engine else []),
        *(["simulator.py"] if simulator else []), *(["runtime.c"] if simulator and dma else []),
    ]  # fmt: skip
    return _rendered("target", name, known, sources, ["conftest.py", "test_networks.py"])


def plugin_files(name: PackageName, kind: str) -> dict[str, bytes]:
    """Path -> content of a package with one thing of `kind`, one of `PLUGIN_KINDS`."""
    known = {
        "summary": _SUMMARIES[kind],
        "announces": (f"{PLUGIN_KINDS[kind]}.{name.name}",),
        "data": False,
        "needs": ("tilewright-cortexm",),  # the target `generic`, on which its tests compile
        "pytest": "pytest",
        "kind": kind,
    }
    return _rendered(f"plugin/{kind}", name, known, ["__init__.py"], [f"test_{kind}.py"])


def _rendered(
    folder: str, name: PackageName, known: Mapping[str, object], sources: list[str], tests: list[str]
) -> dict[str, bytes]:
    places = {
        "pyproject.toml": "package/pyproject.toml",
        "tox.ini": "package/tox.ini",
        ".github/workflows/test.yml": "package/test.yml",
        ".gitignore": "package/gitignore",
        "README.md": f"{folder.split('/', maxsplit=1)[0]}/README.md",
        **{f"src/{name.module}/{source}": f"{folder}/{source}" for source in sources},
        **{f"tests/{test}": f"{folder}/{test}" for test in tests},
        **({"tests/conftest.py": "plugin/conftest.py"} if known.get("kind", "importer") != "importer" else {}),
    }
    release = __version__.split(".")
    names = {
        "name": name.name,
        "module": name.module,
        "macro": name.macro,
        "title": name.title,
        "core": ".".join(release[:2]),
        "next_core": f"{release[0]}.{int(release[1]) + 1}" if release[0] == "0" else str(int(release[0]) + 1),
    }
    texts = files("tilewright.scaffold") / "text"
    return {
        place: str(template((texts / f"{source}.mako").read_text(encoding="utf-8")).render(**names, **known)).encode()
        for place, source in places.items()
    }
