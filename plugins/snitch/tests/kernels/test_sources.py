"""Files of C are found by their names, and templates by what they define."""

from __future__ import annotations

from tilewright_snitch.kernels.sources import c_fragment, c_template


def test_a_section_is_a_file() -> None:
    section = c_fragment("streams.h")
    assert section.name == "tilewright_snitch/streams.h"
    assert "#pragma once" not in section.text
    assert "tw_sn_settle" in section.text


def test_templates_are_named_by_what_they_define() -> None:
    template = c_template("${name}", "products.c.mako", c_fragment("products.h"))
    assert template.name == "${name}"
    assert [need.name for need in template.needs] == ["tilewright_snitch/products.h"]
