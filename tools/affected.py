"""Prints the tests of what has changed since a revision, uncommitted changes included.
Usage: pytest $(python tools/affected.py)

Of a changed module these are its mirrored test, every test that imports it, and the tests of every room with a module
that imports it; of a text beside modules, the tests of its room. Tests that have changed, those that lie beside a
changed conftest.py or golden file, those that name a changed script, and for a page those of `tests/docs`. Sizes and
mirrors are always among them.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
ALWAYS = ("tests/docs/test_mirrors.py", "tests/docs/test_sizes.py")
GOLDEN = ("tests/kernels", "tests/stages")  # the text of what the core makes
EVERYTHING = ("core/tests", "plugins", "tests")
OF_ALL_TESTS = ("conftest.py", "pyproject.toml", "tests/conftest.py", "tox.ini")


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A file that ships, or a test's: `package` is `core` or the folder of a plugin, "" for what is not shipped."""

    path: str
    name: str  # as it is imported
    package: str
    imports: frozenset[str]  # every name that may be a module

    @property
    def passes_on(self) -> bool:
        """It offers what other modules have: who imports it imports those."""
        return self.path.endswith("/__init__.py") or self.name.startswith("tilewright.api.")

    @property
    def inside(self) -> PurePosixPath:
        """Below the folder that is imported."""
        return PurePosixPath(self.path).relative_to(f"{self.package}/src").relative_to(self.name.split(".")[0])

    @property
    def mirror(self) -> str:
        """Where its own test is."""
        return f"{self.package}/tests/{self.inside.with_name(f'test_{self.inside.name}')}"

    @property
    def room(self) -> str:
        """Where the tests of its room are: a folder, or one file for a module that lies outside of folders."""
        return f"{self.package}/tests/{self.inside.parts[0]}" if len(self.inside.parts) > 1 else self.mirror


@dataclass(frozen=True)
class Checkout:
    """A folder with the core, plugins and tests."""

    root: Path

    @cached_property
    def shipped(self) -> Mapping[str, Module]:
        """Path -> module."""
        result = (self._module(path) for path in self._files("core/src", "plugins/*/src"))
        return {module.path: module for module in result}

    @cached_property
    def tests(self) -> Mapping[str, Module]:
        """Path -> test."""
        paths = (path for path in self._files("core/tests", "plugins/*/tests", "tests") if _is_test(path.name))
        return {path: self._read(path, path, "") for path in (self._relative(each) for each in paths)}

    def affected(self, changed: Iterable[str]) -> tuple[str, ...]:
        """Files and folders of tests, none inside another, for changed paths; those that are gone included."""
        result = {*ALWAYS, *(test for path in changed for test in self._of(path))}
        there = sorted(path for path in result if (self.root / path).exists())
        return tuple(path for path in there if not any(path.startswith(f"{folder}/") for folder in there))

    def _of(self, path: str) -> Iterator[str]:
        """The tests of one path."""
        parts = PurePosixPath(path).parts
        if path in OF_ALL_TESTS:
            yield from EVERYTHING
        elif "src" in parts[:3] and parts[0] in ("core", "plugins"):
            yield from self._of_source(path)
        elif "tests" in parts[:3] and parts[0] in ("core", "plugins", "tests"):
            yield from self._of_test(PurePosixPath(path))
        elif parts[0] == "docs" or path.endswith(".md"):
            yield "tests/docs"
        elif parts[0] in ("core", "plugins"):
            yield "/".join([*parts[: 1 + (parts[0] == "plugins")], "tests"])
        elif parts[0] in ("benchmarks", "examples", "tools"):
            yield from self._naming(parts[-1])
            yield "tests/docs/test_scripts.py"

    def _of_source(self, path: str) -> Iterator[str]:
        """Of what ships: of a module by who imports it, of a text by where it lies."""
        module = self._module(self.root / path)
        yield from GOLDEN if module.package == "core" else ()
        if not path.endswith(".py"):
            yield module.room
            return
        yield module.mirror
        names = self._names(module.name)
        yield from (each.room for each in self.shipped.values() if each.imports & names and not each.passes_on)
        yield from (each.path for each in self.tests.values() if each.imports & names)

    def _of_test(self, path: PurePosixPath) -> Iterator[str]:
        """Of what lies among tests."""
        if _is_test(path.name):
            yield str(path)
        elif "golden" in path.parts:
            folder = str(path).split("/golden/")[0]
            yield from (test for test in self._naming("golden") if test.startswith(f"{folder}/"))
        elif path.suffix == ".py" and path.parts[:2] == ("tests", "kit"):
            names = {path.stem, f"kit.{path.stem}"}
            yield from (test.path for test in self.tests.values() if test.imports & names)
        else:
            tested = {PurePosixPath(test).parent for test in self.tests}
            yield from map(str, [folder for folder in path.parents if folder in tested][:1])

    def _naming(self, text: str) -> Iterator[str]:
        """Tests in which a text occurs."""
        return (path for path in self.tests if text in (self.root / path).read_text("utf-8"))

    def _names(self, name: str) -> frozenset[str]:
        """By which a module is imported: its own, and those of modules that pass on what it has."""
        names, more = frozenset[str](), frozenset([name])
        while more - names:
            names |= more
            more = frozenset(each.name for each in self.shipped.values() if each.passes_on and each.imports & names)
        return names

    def _module(self, path: Path) -> Module:
        """What ships, of whatever kind: a text is called like a module."""
        relative = self._relative(path)
        package, _, inside = relative.partition("/src/")
        name = inside.removesuffix(path.suffix).removesuffix("/__init__").replace("/", ".")
        return self._read(relative, name, package)

    def _read(self, path: str, name: str, package: str) -> Module:
        file = self.root / path
        text = file.read_text("utf-8") if path.endswith(".py") and file.exists() else ""
        return Module(path=path, name=name, package=package, imports=frozenset(_imported(ast.parse(text))))

    def _files(self, *folders: str) -> Iterator[Path]:
        for folder in folders:
            yield from sorted(self.root.glob(f"{folder}/**/*.py"))

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()


def _is_test(name: str) -> bool:
    return name.startswith("test_") and name.endswith(".py")


def _imported(tree: ast.Module) -> Iterator[str]:
    """Every name that a module may be imported by, also in a text that is such a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("tilewright"):
            yield node.value


def changed_since(base: str, root: Path) -> tuple[str, ...]:
    """Paths that differ between the working tree and where HEAD left `base`, and those that git does not know."""

    def git(*words: str) -> list[str]:
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()

    (left,) = git("merge-base", base, "HEAD")
    return (*git("diff", "--name-only", left), *git("ls-files", "--others", "--exclude-standard"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="HEAD", metavar="REV", help="a branch or a commit (default: HEAD)")
    words = parser.parse_args()
    sys.stdout.writelines(f"{path}\n" for path in Checkout(ROOT).affected(changed_since(words.base, ROOT)))
