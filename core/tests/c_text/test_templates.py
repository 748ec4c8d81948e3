"""What Mako made of a text is kept, is of this text only, and is missed by nobody where it cannot be kept."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import mako
import pytest
from mako.template import Template

from tilewright.c_text.templates import cache_folder, template

ASKED = """
import sys
from mako import template as compiler
from tilewright.c_text.templates import template
made = []
compile_text = compiler._compile
compiler._compile = lambda *given, **named: made.append(1) or compile_text(*given, **named)
print(template(sys.argv[1]).render(a=sys.argv[2]), bool(made))
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache of the user, and nothing known from before."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kept"))
    template.cache_clear()
    yield tmp_path / "kept"
    template.cache_clear()


def in_another_process(text: str, value: str) -> str:
    """What is shown there, and whether Mako compiled it."""
    done = subprocess.run([sys.executable, "-c", ASKED, text, value], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.mark.slow
def test_the_second_process_compiles_nothing() -> None:
    assert in_another_process("<${a}>", "1") == "<1> True"
    assert in_another_process("<${a}>", "2") == "<2> False"


def test_another_text_is_another_template() -> None:
    """Of the same length, at the same time: what would deceive a look at sizes and dates."""
    assert in_another_process("<${a}>", "1") == "<1> True"
    assert in_another_process("[${a}]", "1") == "[1] True"
    assert in_another_process("<${a}>", "1") == "<1> False"


def test_escaping_and_the_version_of_mako_are_other_templates(monkeypatch: pytest.MonkeyPatch) -> None:
    assert template("${a}").render(a="<") == "<"
    assert template("${a}", html=True).render(a="<") == "&lt;"
    assert len(list(cache_folder().glob("*.mako"))) == 2
    template.cache_clear()
    monkeypatch.setattr(mako, "__version__", "9.9.9")
    assert template("${a}").render(a="<") == "<"
    assert len(list(cache_folder().glob("*.mako"))) == 3


@pytest.mark.slow
def test_files_are_there_whole_and_nothing_else_is(home: Path) -> None:
    assert template("<${a}>").render(a=1) == "<1>"
    (folder,) = home.iterdir()
    kept = sorted(path.suffix for path in (folder / "templates").iterdir() if path.name != "__pycache__")
    assert kept == [".mako", ".py"]


@pytest.mark.parametrize("folder", ["kept", "kept/tilewright/templates"])
def test_a_folder_that_cannot_be_written_is_no_error(folder: str, tmp_path: Path) -> None:
    place = tmp_path / folder
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("a file where a folder would be")
    assert template("<${a}>").render(a=1) == "<1>"
    assert place.is_file()


@pytest.mark.parametrize("word", ["kept", "./kept", ""])
def test_only_absolute_paths_are_a_home(word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", word)
    monkeypatch.setenv("HOME", "~" if word else str(tmp_path / "me"))
    assert template("<${a}>").render(a=1) == "<1>"
    assert [path.name for path in tmp_path.iterdir()] == ([] if word else ["me"])
    assert os.path.isdir(tmp_path / "me" / ".cache" / "tilewright" / "templates") == (not word)


def test_everything_that_mako_has_is_rendered_as_mako_does() -> None:
    text = (
        '<%page args="a, b=7"/><%doc> not shown </%doc>\n<%def name="pair(x, y)">(${x}, ${y})</%def>\n'
        "% for each in a:\n${loop.index}: ${pair(each, b)} \\\n% endfor\n<% c = len(a) %>\n${c}\n"
        "${capture(pair, 1, 2)}\n% if c > 1:\nmany ${'<' | h} ${str(None)}\n<% return STOP_RENDERING %>\n% endif\nend\n"
    )
    own = Template(text, strict_undefined=True, default_filters=["str"])
    for values in ([], [1], ["p", "q"]):
        assert template(text).render(a=values) == own.render(a=values)
    with pytest.raises(NameError):
        template("${nothing}").render()
