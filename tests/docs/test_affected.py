"""`tools/affected.py` names the tests of what has changed: in a checkout that is made up, and of this one."""

from __future__ import annotations

import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "affected.py"
ALWAYS = {"tests/docs/test_mirrors.py", "tests/docs/test_sizes.py"}
GOLDEN = {"tests/kernels", "tests/stages"}
FILES = {
    "conftest.py": "",
    "core/src/tilewright/cut/grid.py": "",
    "core/src/tilewright/cut/shape.c.mako": "",
    "core/src/tilewright/cut/__init__.py": "from tilewright.cut.grid import grid",
    "core/src/tilewright/plan/search.py": "from tilewright.cut import grid",
    "core/src/tilewright/words.py": "HOMES = {'plan': 'tilewright.plan.search'}",
    "core/src/tilewright/api/tiler.py": "from tilewright.plan.search import search",
    "core/tests/cut/test_grid.py": "",
    "core/tests/cut/test_shape.py": "from tilewright.plan import search",
    "core/tests/plan/conftest.py": "",
    "core/tests/plan/test_search.py": "",
    "core/tests/test_words.py": "# golden/words.txt",
    "core/tests/golden/words.txt": "",
    "plugins/acme/src/tilewright_acme/kernels/conv.py": "import tilewright.api.tiler",
    "plugins/acme/tests/kernels/test_conv.py": "",
    "plugins/acme/tests/test_others.py": "from kit.made import net",
    "tests/kit/made.py": "",
    "tests/docs/test_mirrors.py": "",
    "tests/docs/test_sizes.py": "",
    "tests/docs/test_scripts.py": "",
    "tests/docs/test_pages.py": "TOOL = 'draw.py'",
    "tests/kernels/test_texts.py": "",
    "tests/stages/test_texts.py": "",
    "tools/draw.py": "",
}


@pytest.fixture(name="checkout")
def _checkout(tmp_path: Path) -> Path:
    """The files above, committed."""
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    shutil.copy(TOOL, tmp_path / "tools")
    git = ["git", "-c", "user.name=nobody", "-c", "user.email=nobody@nowhere"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    return tmp_path


@pytest.fixture(name="tool")
def _tool() -> dict[str, Any]:
    return runpy.run_path(str(TOOL))


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        # its mirror; by the package that passes it on, `plan`
        ("core/src/tilewright/cut/grid.py", {"core/tests/cut/test_grid.py", "core/tests/plan", *GOLDEN}),
        # its mirror, who imports it, by a text too, and by the layer that passes it on
        (
            "core/src/tilewright/plan/search.py",
            {
                "core/tests/plan/test_search.py",
                "core/tests/cut/test_shape.py",
                "core/tests/test_words.py",
                "plugins/acme/tests/kernels",
                *GOLDEN,
            },
        ),
        ("core/src/tilewright/cut/shape.c.mako", {"core/tests/cut", *GOLDEN}),
        ("core/src/tilewright/gone.py", GOLDEN),
        ("plugins/acme/src/tilewright_acme/kernels/conv.py", {"plugins/acme/tests/kernels/test_conv.py"}),
        ("plugins/acme/pyproject.toml", {"plugins/acme/tests"}),
        ("core/tests/plan/conftest.py", {"core/tests/plan"}),
        ("core/tests/golden/words.txt", {"core/tests/test_words.py"}),
        ("core/tests/cut/test_grid.py", {"core/tests/cut/test_grid.py"}),
        ("tests/kit/made.py", {"plugins/acme/tests/test_others.py"}),
        ("tools/draw.py", {"tests/docs/test_pages.py", "tests/docs/test_scripts.py"}),
        ("docs/index.md", {"tests/docs"}),
        ("conftest.py", {"core/tests", "plugins", "tests"}),
        (".gitignore", set()),
    ],
)
def test_what_changed_has_its_tests(tool: dict[str, Any], checkout: Path, changed: str, tests: set[str]) -> None:
    affected = set(tool["Checkout"](checkout).affected([changed]))
    inside = {path for path in ALWAYS if any(path.startswith(f"{folder}/") for folder in tests)}
    assert affected == tests | (ALWAYS - inside)


def test_uncommitted_files_and_those_of_a_branch_have_changed(checkout: Path) -> None:
    def printed(*words: str) -> set[str]:
        command = [sys.executable, "tools/affected.py", *words]
        done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    git = ["git", "-c", "user.name=nobody", "-c", "user.email=nobody@nowhere"]
    assert printed() == ALWAYS
    (checkout / "core/tests/cut/test_grid.py").write_text("# changed")
    (checkout / "core/tests/test_new.py").write_text("")
    assert printed() == {*ALWAYS, "core/tests/cut/test_grid.py", "core/tests/test_new.py"}
    for words in (["checkout", "-q", "-b", "work"], ["add", "-A"], ["commit", "-q", "-m", "second"]):
        subprocess.run([*git, *words], cwd=checkout, check=True)
    assert printed() == ALWAYS
    assert printed("--base", "main") == {*ALWAYS, "core/tests/cut/test_grid.py", "core/tests/test_new.py"}


def test_a_stage_of_this_checkout_has_the_rooms_above_it(tool: dict[str, Any]) -> None:
    affected = tool["Checkout"](ROOT).affected(["core/src/tilewright/deployment.py"])
    assert {"core/tests/test_deployment.py", "core/tests/cli", "tests/stages"} <= set(affected)
    assert "core/tests/bind" not in affected
