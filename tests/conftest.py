"""Really installed plugin packages, healthy and faulty: wheels installed by pip, or by uv, seen by a new process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import InvalidRequirement, Requirement

PROBE = Path(__file__).parent / "plugins" / "probe.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A distribution with one module, named as it is."""

    name: str
    source: str
    entry_points: Mapping[str, str]
    version: str = "1.2.3"
    requires: tuple[str, ...] = ("tilewright>=0.1",)

    @property
    def module(self) -> str:
        """The import name."""
        return self.name.replace("-", "_")

    @property
    def is_readable(self) -> bool:
        """Whether every requirement is written as one."""
        try:
            return bool([Requirement(requirement) for requirement in self.requires])
        except InvalidRequirement:
            return False

    def wheel(self, folder: Path) -> Path:
        """A wheel of it in `folder`."""
        info = f"{self.module}-{self.version}.dist-info"
        entries = "\n".join(f"{name} = {value}" for name, value in self.entry_points.items())
        requires = "".join(f"Requires-Dist: {requirement}\n" for requirement in self.requires)
        files = {
            f"{self.module}.py": self.source,
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {self.name}\nVersion: {self.version}\n{requires}",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/entry_points.txt": f"[tilewright.v1]\n{entries}\n",
        }
        files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
        path = folder / f"{self.module}-{self.version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A folder of installed packages, beside those of the running Python."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A Python process that sees the packages."""
        inherited = {name: value for name, value in os.environ.items() if name != "TILEWRIGHT_BLOCK"}
        return subprocess.run(
            [sys.executable, *command],
            env={**inherited, "PYTHONPATH": str(self.folder), **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def tilewright(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """The command line, in a process that sees the packages."""
        return self.run("-c", "from tilewright.cli import main; main()", *arguments, **environment)

    def probe(self, *actions: str, **environment: str) -> list[dict[str, Any]]:
        """What each action of `probe.py` answers, all in one process, in order."""
        finished = self.run(str(PROBE), *actions, **environment)
        assert finished.returncode == 0, finished.stderr
        answers: list[dict[str, Any]] = json.loads(finished.stdout)
        return answers


def install(wheels: Sequence[Path], folder: Path, *, unpacked: Sequence[Path] = ()) -> Site:
    """Install `wheels` into `folder`, and unpack those whose metadata pip refuses today (older ones took it)."""
    uv = shutil.which("uv")
    installer = [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
    command = [*installer, "-q", "--no-deps", "--no-index", "--no-compile", "--target", str(folder)]
    subprocess.run([*command, *map(str, wheels)], check=True, capture_output=True)
    for wheel in unpacked:
        zipfile.ZipFile(wheel).extractall(folder)
    return Site(folder=folder)


def build(project: Path, folder: Path) -> Path:
    """The wheel of the sources in `project`, built in a copy of them."""
    copy = shutil.copytree(project, folder / "copy", ignore=shutil.ignore_patterns("build", "*.egg-info"))
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(copy)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def target_source(name: str, extra: str = "") -> str:
    """The source of a plugin that offers the target `name`."""
    return f"""
from tilewright.api import hookimpl
from tilewright.api.platform import Memory, Platform
{extra}
@hookimpl
def tilewright_platforms():
    return (Platform(name="{name}", memories=(Memory(name="ram", size_bytes=None),
            Memory(name="rom", size_bytes=None, kind="const"))),)
"""


HEALTHY = Plugin(
    name="healthy-plugin", source=target_source("healthy"), entry_points={"platform.healthy": "healthy_plugin"}
)


@pytest.fixture(scope="session", name="make_site")
def _make_site(tmp_path_factory: pytest.TempPathFactory) -> Any:
    def make(*plugins: Plugin) -> Site:
        folder = tmp_path_factory.mktemp("plugins")
        wheels = {plugin.wheel(folder): plugin for plugin in plugins}
        refused = [wheel for wheel, plugin in wheels.items() if not plugin.is_readable]
        return install([wheel for wheel in wheels if wheel not in refused], folder / "site", unpacked=refused)

    return make


@pytest.fixture(scope="session", name="build_site")
def _build_site(tmp_path_factory: pytest.TempPathFactory) -> Any:
    def make(project: Path) -> Site:
        folder = tmp_path_factory.mktemp("vendor")
        return install([build(project, folder)], folder / "site")

    return make


@pytest.fixture(scope="session", name="install_wheels")
def _install_wheels(tmp_path_factory: pytest.TempPathFactory) -> Any:
    def make(*wheels: Path) -> Site:
        return install(wheels, tmp_path_factory.mktemp("wheels") / "site")

    return make


@pytest.fixture(scope="session", name="healthy")
def _healthy() -> Plugin:
    return HEALTHY


@pytest.fixture(scope="session", name="make_plugin")
def _make_plugin() -> type[Plugin]:
    return Plugin


@pytest.fixture(scope="session", name="source_of_target")
def _source_of_target() -> Any:
    return target_source
