"""Templates do not give another meaning to a value that they get: several of them see the same ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from mako import parsetree
from mako.lexer import Lexer

from tilewright.api.kernel import CodeFragments, FragmentTemplate
from tilewright.api.testing import every_layer, side_by_side, site_of, vocabulary
from tilewright.c_text.rendering import render_source
from tilewright.config.options import Options
from tilewright.lower.steps import compute


def assigned(text: str) -> set[str]:
    """Names that the text's own Python and loops give a value."""
    return {name for node in nodes(Lexer(text).parse()) for name in node.declared_identifiers()}


def nodes(parent: parsetree.Node) -> Iterator[parsetree.Node]:
    for node in parent.nodes:
        if isinstance(node, parsetree.Code | parsetree.ControlLine):
            yield node
        if isinstance(node, parsetree.TemplateNode | parsetree.Tag):
            yield from nodes(node)


def texts(source: CodeFragments) -> Iterator[str]:
    """The texts of templates; those of the other sections have no values."""
    for one in source:
        if isinstance(one, FragmentTemplate):
            yield one.text
            yield from texts(one.needs)


def test_a_text_that_does_is_found() -> None:
    assert assigned("<% a, b = 1, 2 %>\n% for c in range(2):\n${d}\n% endfor\n") == {"a", "b", "c"}


@pytest.mark.slow
def test_no_name_has_two_meanings(monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, set[str]] = {}

    def watched(kernel, call):
        if kernel.target == "siracusa":
            values = kernel.values(call)
            source = kernel.source(values) if callable(kernel.source) else kernel.source
            for text in texts(source):
                found.setdefault(kernel.name, set()).update(assigned(text) & values.keys())
        return render_source(kernel, call)

    monkeypatch.setattr(compute, "render_source", watched)
    sites = [
        (site_of(vocabulary()[layer.op], layer.inputs, layer.attributes, layer.constants), layer.inputs)
        for layer in every_layer()
    ]
    assert side_by_side(sites).deployment("siracusa", Options(groups=1, memory={"l2": 2 << 20})).artifact.files
    assert len(found) > 12
    assert {name: names for name, names in found.items() if names} == {}
