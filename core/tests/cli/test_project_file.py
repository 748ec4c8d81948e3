"""Defaults of a project: which file holds, what its keys mean, what is refused, and that flags typed come first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from tilewright.cli.main import tilewright
from tilewright.cli.project_file import nearest, project_defaults
from tilewright.errors import TilewrightError


def defaults(folder: Path, name: str = "compile") -> Any:
    return project_defaults(click.Context(tilewright), tilewright, name, folder)


def test_the_nearest_file_holds(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert nearest(inner) is None
    (tmp_path / "tilewright.toml").write_text("")
    assert nearest(inner) == tmp_path / "tilewright.toml"
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert nearest(inner) == tmp_path / "tilewright.toml"
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.tilewright]\n")
    assert nearest(inner) == tmp_path / "a" / "pyproject.toml"
    (tmp_path / "a" / "tilewright.toml").write_text("")
    assert nearest(inner) == tmp_path / "a" / "tilewright.toml"
    (inner / "pyproject.toml").write_text("not [ toml")
    assert nearest(inner) == tmp_path / "a" / "tilewright.toml"


@pytest.mark.parametrize(("file", "head"), [("tilewright.toml", ""), ("pyproject.toml", "tool.tilewright")])
def test_keys_are_long_names_of_flags(tmp_path: Path, file: str, head: str, capsys: pytest.CaptureFixture[str]) -> None:
    own = f"{head}.compile" if head else "compile"
    (tmp_path / file).write_text(
        f"{f'[{head}]' if head else ''}\ntarget = 'cortex-m4'\nmemory = {{ ram = '64K', flash = 262144 }}\n"
        f"set = ['a=1', 'b=2']\neffort = 1000\nsets = 3\n[{own}]\nemit = 'zephyr'\nselftest = true\n"
    )
    assert defaults(tmp_path) == {
        "target": "cortex-m4",
        "memory": ["ram=64K", "flash=262144"],
        "settings": ["a=1", "b=2"],
        "effort": 1000,
        "emit": "zephyr",
        "selftest": True,
    }
    said = capsys.readouterr().err
    assert said.startswith(f"{file}: target = cortex-m4, memory = ram=64K, flash=262144, ")
    assert "sets" in defaults(tmp_path, "validate")


@pytest.mark.parametrize(
    ("line", "allowed"),
    [("no-external = true", False), ("no-external = false", True), ("allow-external = true", True),
     ("allow-external = false", False)],
)  # fmt: skip
def test_a_flag_and_its_opposite(tmp_path: Path, line: str, allowed: bool) -> None:
    (tmp_path / "tilewright.toml").write_text(f"{line}\n")
    for name in ("compile", "quantize"):
        assert defaults(tmp_path, name) == {"allow_external": allowed}


def test_an_opposite_is_true_or_false(tmp_path: Path) -> None:
    (tmp_path / "tilewright.toml").write_text("no-external = 'no'\n")
    with pytest.raises(TilewrightError, match="--no-external is true or false"):
        defaults(tmp_path)


def test_where_ends_live_is_said_once_for_all_commands(tmp_path: Path) -> None:
    (tmp_path / "tilewright.toml").write_text("io = { x = 'user' }\n[validate]\nsets = 3\n")
    assert defaults(tmp_path) == {"io": ["x=user"]}
    assert defaults(tmp_path, "validate") == {"io": ["x=user"], "sets": 3}  # its --place-io, not its file of vectors


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("taget = 'generic'", "no flag --taget: did you mean target?"),
        ("[compile]\nsets = 3", "no flag --sets"),
        ("compile = 3", "'compile' is a command"),
        ("target = ['a', 'b']", "--target is given once"),
        ("target = ", "Invalid value"),
        ("target = ''", "--target is given an empty value"),
        ("[compile]\noutput = ''", "--output is given an empty value"),
        ("memory = ['ram=2K', '']", "--memory is given an empty value"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "tilewright.toml").write_text(text)
    with pytest.raises(TilewrightError) as caught:
        defaults(tmp_path)
    assert (caught.value.code, caught.value.exit_code) == ("TW1130", 2)
    assert words in str(caught.value)


def test_what_is_typed_comes_first_and_the_file_can_be_left_alone(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "tilewright.toml").write_text("target = 'nobody'\n")
    monkeypatch.chdir(tmp_path)

    def target(*words: str) -> Any:
        with tilewright.make_context("tilewright", list(words)) as context:
            seen: list[Any] = []
            command = tilewright.get_command(context, "check")
            assert command is not None
            monkeypatch.setattr(command, "callback", lambda **flags: seen.append(flags["target"]))
            tilewright.invoke(context)
        return seen[0]

    assert target("check", "x.onnx") == "nobody"
    assert target("analyze", "x.onnx") == "nobody"
    assert target("check", "x.onnx", "--target", "generic") == "generic"
    assert target("--no-project", "check", "x.onnx") is None


def test_what_is_about_single_models_is_neither_meant_nor_said_for_a_group(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tilewright.toml").write_text("target = 'generic'\nseed = 3\n[compile]\nname = 'a'\nemit = 'make'\n")
    for words in (["compile", "--group", "app.toml"], ["compile", "--group=app.toml"]):
        found = project_defaults(click.Context(tilewright), tilewright, "compile", tmp_path, words)
        assert (found, capsys.readouterr().err) == ({"seed": 3}, "tilewright.toml: seed = 3\n")
    assert defaults(tmp_path) == {"target": "generic", "seed": 3, "name": "a", "emit": "make"}


def test_a_list_of_names_is_one_value(tmp_path: Path) -> None:
    (tmp_path / "tilewright.toml").write_text("[compile]\nemit = ['make', 'zephyr']\n")
    assert defaults(tmp_path) == {"emit": "make,zephyr"}
