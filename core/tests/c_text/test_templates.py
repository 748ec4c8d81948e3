"""What Mako made of a text is kept, is of this text only, and is missed by nobody where it cannot be kept."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import mako
import pytest
from mako.template import Template as MakosOwn

from tilewright.c_text.templates import kept_in, template

ASKED = """
import sys
from tilewright.c_text.templates import template
print(template(sys.argv[1]).render(a=sys.argv[2]), "mako.template" in sys.modules)
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty place for bytecode, and nothing known from before."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "kept"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    template.cache_clear()
    yield tmp_path / "kept"
    template.cache_clear()


def kept(text: str, *, html: bool = False) -> Path:
    path = kept_in(text, html=html)
    assert path
    return path


def in_another_process(home: Path, text: str, value: str) -> str:
    kept_there = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", ASKED, text, value],
        env={**kept_there, "PYTHONPYCACHEPREFIX": str(home)},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def test_the_second_process_needs_no_mako(home: Path) -> None:
    assert in_another_process(home, "<${a}>", "1") == "<1> True"
    assert in_another_process(home, "<${a}>", "2") == "<2> False"


def test_another_text_in_the_same_place_is_another_template(home: Path) -> None:
    """Of the same length, at the same time: what would deceive a look at sizes and dates."""
    assert in_another_process(home, "<${a}>", "1") == "<1> True"
    assert in_another_process(home, "[${a}]", "1") == "[1] True"
    assert in_another_process(home, "<${a}>", "1") == "<1> False"


def test_escaping_and_the_version_of_mako_are_other_templates(monkeypatch: pytest.MonkeyPatch) -> None:
    assert template("${a}").render(a="<") == "<"
    assert template("${a}", html=True).render(a="<") == "&lt;"
    before = kept("${a}")
    assert kept("${a}", html=True) != before
    monkeypatch.setattr(mako, "__version__", "9.9.9")
    assert kept("${a}") != before


@pytest.mark.parametrize("damage", [b"", b"\0" * 40, b"short"])
def test_what_is_damaged_is_made_again(home: Path, damage: bytes) -> None:
    assert template("<${a}>").render(a=1) == "<1>"
    kept("<${a}>").write_bytes(damage)
    assert in_another_process(home, "<${a}>", "2") == "<2> True"
    assert in_another_process(home, "<${a}>", "3") == "<3> False"


def test_what_was_made_of_one_text_and_lies_under_the_name_of_another_is_not_used() -> None:
    assert template("<${a}>").render(a=1) == "<1>"
    os.replace(kept("<${a}>"), kept("[${a}]"))
    assert template("[${a}]").render(a=1) == "[1]"


def test_nothing_is_kept_where_python_keeps_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert template("<${a}>").render(a=1) == "<1>"
    assert not home.exists()
    monkeypatch.setattr(sys.implementation, "cache_tag", None)
    assert kept_in("<${a}>") is None
    assert template("[${a}]").render(a=1) == "[1]"


def test_a_folder_that_cannot_be_written_is_no_error(home: Path) -> None:
    home.write_text("a file where a folder would be")
    assert template("<${a}>").render(a=1) == "<1>"
    assert home.is_file()


def test_everything_that_mako_has_is_rendered_as_mako_does() -> None:
    text = (
        '<%page args="a, b=7"/><%doc> not shown </%doc>\n<%def name="pair(x, y)">(${x}, ${y})</%def>\n'
        "% for each in a:\n${loop.index}: ${pair(each, b)} \\\n% endfor\n<% c = len(a) %>\n${c}\n"
        "${capture(pair, 1, 2)}\n% if c > 1:\nmany ${'<' | h} ${str(None)}\n<% return STOP_RENDERING %>\n% endif\nend\n"
    )
    own = MakosOwn(text, strict_undefined=True, default_filters=["str"])
    for values in ([], [1], ["p", "q"]):
        assert template(text).render(a=values) == own.render(a=values)
    with pytest.raises(NameError):
        template("${nothing}").render()
