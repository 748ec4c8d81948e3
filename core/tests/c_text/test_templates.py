"""A quick template says what Mako says, on every text that is ours and on every thing that it claims to know."""

from __future__ import annotations

import builtins
from pathlib import Path

import pytest
from mako.template import Template

from tilewright.c_text.templates import quick

SOURCES = Path(__file__).resolve().parents[2] / "src"
TEXTS = sorted(SOURCES.rglob("*.mako"))
NAMES = {"x": 3, "names": ["a", "b"], "text": "<&'\"", "of": {"a": "p[{i}]"}, "flag": False}

KNOWN = [
    "",
    "plain, with $ and % and # and { and \\ inside",
    "${x}",
    "a ${x + 1} b ${'}'} ${{'k': x}['k']} ${f\"{x}|{x}\"}\n",
    "${\nx\n}",
    "${x # said\n}",
    "% if x > 2:\nbig\n% elif x:\nsmall\n% else:\nnone\n% endif\nend",
    "% if flag:\n% endif\nend\n",
    "% for name in names:\n  ${name},\\\n\n% endfor\n",
    "  % for i, name in enumerate(names):\n% if i:\n, \\\n% endif\n${name}\\\n% endfor\n",
    "<% y = x * 2 %>${y}\n",
    "<%\n    y = x\n    if y:\n        z = [y + k for k in range(3)]\n%>\n${z}",
    "## nothing\nsomething ## here\n",
    "<%doc> of ${x} </%doc>\\\nafter",
    "<%text>${x}</%text>\n",
    "one \\\ntwo",
    "100 % of ${x} % all\n",
    '<%def name="twice(y)">\\\n[${y}${y}]\\\n</%def>\\\n${twice(x)}${twice("b")}',
    '${later(2)}<%def name="later(y)">${y}\n% if y > 1:\nmany\n% endif\n</%def>',
    "${next(one for one in names)} ${', '.join(names)}",
    "% for i in range(3):\n% for j in range(i):\n${i}${j} \\\n% endfor\n% endfor\n",
    "${text | n}",
]
BEYOND = [
    "${text | h}",
    "${x",
    "%% not control\n",
    "<%! import re %>${re.escape('a')}",
    "% for name in names:\n${loop.index}\n% endfor\n",
    '<%block name="b">x</%block>',
    "a\r\nb",
    "${context.get('x')}",
    "% if x:\n",
    "% endif\n",
    "${x +}",
    '<%def name="f()">',
    '<% y = """a\n  b""" %>${y}',
]


@pytest.mark.parametrize("text", KNOWN)
def test_what_is_known_is_rendered_as_mako_does(text: str) -> None:
    found = quick(text)
    assert found is not None
    assert found.render(**NAMES) == Template(text, strict_undefined=True).render(**NAMES)


@pytest.mark.parametrize("text", BEYOND)
def test_the_rest_is_left_to_mako(text: str) -> None:
    assert quick(text) is None


def test_values_are_shown_as_asked() -> None:
    found = quick("${x} ${text} ${text | n}", lambda value: f"<{value}>")
    assert found is not None
    assert found.render(x=1, text="b") == "<1> <b> b"


def test_an_unknown_name_is_an_error() -> None:
    found = quick("${nobody}")
    assert found is not None
    with pytest.raises(NameError, match="nobody"):
        found.render()


def test_a_text_changes_no_name_of_its_reader() -> None:
    given = {"x": 1}
    found = quick("<% x = 2; y = 3 %>${x}${y}")
    assert found is not None
    assert found.render(**given) == "23"
    assert given == {"x": 1}
    assert not {"x", "y"} & set(vars(builtins))


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_texts_of_the_core_are_known_but_for_rare_ones(file: Path) -> None:
    rare = {"arduino_weights.mako", "twin.mako"}  # imports a module; counts a loop
    assert (quick(file.read_text("utf-8")) is None) == (file.name in rare)
