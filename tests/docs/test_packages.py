"""Packages as they are published: their pages, their places in the matrix, and nothing of an earlier build in them."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROJECTS = [ROOT / "core", *sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml"))]


def metadata(project: Path) -> dict[str, Any]:
    return tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_each_has_what_a_project_page_shows(project: Path) -> None:
    found = metadata(project)
    assert (project / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes() and found["license-files"] == [
        "LICENSE"
    ]
    assert found["urls"] and "Typing :: Typed" in found["classifiers"]
    page = (project / "README.md").read_text(encoding="utf-8")
    assert len(page) > 500
    assert re.findall(r"\]\((?!https://)[^)]*\)", page) == []  # links of the page lead nowhere but to addresses


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_its_addresses_are_pages_of_the_site(project: Path) -> None:
    home, *pages = (metadata(project)["urls"][name] for name in ("Homepage", "Documentation", "Changelog"))
    written = {page.stem for page in (ROOT / "docs").glob("*.md")} | {"changes"}  # CHANGELOG.md, see build_site.py
    assert [page.removeprefix(f"{home}/").removesuffix(".html") for page in pages] == ["index", "changes"]
    assert written >= {"index", "changes"} and '"changes.md"' in (ROOT / "tools" / "build_site.py").read_text("utf-8")


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_each_stands_in_the_matrix(project: Path) -> None:
    name = metadata(project)["name"].removeprefix("tilewright").removeprefix("-").replace("-", "_") or "core"
    (listed,) = re.findall(r"^env_list = .*\{([\w,]+)\}-", (ROOT / "tox.ini").read_text(encoding="utf-8"), re.MULTILINE)
    assert name in listed.split(",")
    assert any(need.startswith("pytest") for need in metadata(project)["optional-dependencies"]["test"])


def test_nothing_of_an_earlier_build_is_shipped(tmp_path: Path) -> None:
    copy = tmp_path / "cpsat"
    shutil.copytree(ROOT / "plugins" / "cpsat_tiler", copy, ignore=shutil.ignore_patterns("*.egg-info"))
    gone = copy / "build" / "lib" / "tilewright_cpsat" / "gone.py"
    gone.parent.mkdir(parents=True)
    gone.write_text("", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path), str(copy)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "tilewright_cpsat/tiler.py" in names and "tilewright_cpsat/gone.py" not in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert sorted(path.name for path in (copy / "build").rglob("*.py")) == ["gone.py"]


@pytest.mark.parametrize(("uv", "code", "builders"), [("", 0, ["pip"]), ("uv", 0, ["uv"]), ("uv", 1, ["uv", "pip"])])
def test_wheels_are_built_with_uv_and_with_pip_where_it_is_missing_or_fails(
    uv: str, code: int, builders: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wheels = runpy.run_path(str(ROOT / "tools" / "wheels.py"))
    asked: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return subprocess.CompletedProcess(command, code if command[0] == "uv" else 0)

    monkeypatch.setattr(shutil, "which", lambda _: uv)
    monkeypatch.setattr(subprocess, "run", run)
    wheels["_make_wheel"](ROOT / "core", tmp_path)
    assert ["uv" if command[0] == "uv" else command[2] for command in asked] == builders
    assert all({str(ROOT / "core"), str(tmp_path), sys.executable} <= set(command) for command in asked)


def test_nothing_that_is_generated_for_a_user_is_in_the_tree() -> None:
    """The manifest stands in every folder that `tilewright compile` has written."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:  # not in a copy without its history
        assert [name for name in listed.stdout.splitlines() if name.endswith("tilewright-manifest.json")] == []
