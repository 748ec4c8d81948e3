"""Sections in files: what a file includes is what it needs, and everything else is the text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tilewright.c_text.fragment_files import fragment_file, template_file
from tilewright.ir.code_fragments import ordered

FILES = {
    "__init__.py": "",
    "deep/pair.h": "#pragma once\n#include <stdint.h>\n\ntypedef struct {\n    int32_t a, b;\n} acme_pair;\n",
    "sum.c": '#include "deep/pair.h"\n#include "prelude.h"\n#include "functions/tw_expf.h"\n#include <string.h>\n\n'
    "#define ACME_LONG(x) \\\n    (x)\nTW_KERNEL void acme_sum(void)\n{\n}\n",
    "any.c.mako": '#include "deep/pair.h"\n\nTW_KERNEL void ${function}(void)\n{\n}\n',
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    folder = tmp_path / "acme_sections"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="ascii")
    monkeypatch.syspath_prepend(tmp_path)
    yield "acme_sections"
    sys.modules.pop("acme_sections", None)


def test_includes_are_needs_and_leave_the_text(package: str) -> None:
    found = fragment_file(package, "sum.c")
    assert (found.name, found.owner, found.includes) == ("acme_sections/sum.c", "acme_sections", ("<string.h>",))
    assert found.text == "#define ACME_LONG(x) \\\n    (x)\nTW_KERNEL void acme_sum(void)\n{\n}"
    assert [one.name for one in ordered([found])] == [
        "acme_sections/deep/pair.h",
        "tilewright/functions/tw_exp2_int.h",
        "tilewright/functions/tw_expf.h",
        "acme_sections/sum.c",
    ]


def test_templates_need_what_they_include(package: str) -> None:
    found = template_file(package, "any.c.mako", "${function}")
    assert [need.name for need in found.needs] == ["acme_sections/deep/pair.h"]
    assert found.of(function="acme_any").given == (("function", "acme_any"),)


def test_files_that_are_nowhere(package: str) -> None:
    with pytest.raises(FileNotFoundError):
        fragment_file(package, "missing.h")
