"""Really installed plugin packages, healthy and faulty: wheels made by hand, installed by pip, seen by a new process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PROBE = Path(__file__).with_name("probe.py")


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

    def probe(self, *actions: str, **environment: str) -> list[dict[str, Any]]:
        """What each action of `probe.py` answers, all in one process, in order."""
        finished = self.run(str(PROBE), *actions, **environment)
        assert finished.returncode == 0, finished.stderr
        answers: list[dict[str, Any]] = json.loads(finished.stdout)
        return answers


def install(plugins: Sequence[Plugin], folder: Path) -> Site:
    """Install wheels of `plugins` with pip."""
    wheels = folder / "wheels"
    wheels.mkdir(parents=True)
    files = [str(plugin.wheel(wheels)) for plugin in plugins]
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*command, "--target", str(folder / "site"), *files], check=True)
    return Site(folder=folder / "site")


def target_source(name: str, extra: str = "") -> str:
    """The source of a plugin that offers the target `name`."""
    return f"""
from tilewright.api import Memory, Platform, hookimpl
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
        return install(plugins, tmp_path_factory.mktemp("plugins") / "installed")

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
