"""Names that portable C defines at file scope: any two layers may stand in one program."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import tilewright.operators

_DEFINED = re.compile(r"^(?:}|TW_KERNEL [^(\n]*?|static [^(\n=]*?)\s*\b(tw_[a-z0-9_]+)(?:;|\()", re.MULTILINE)


def test_no_two_files_define_one_name() -> None:
    files = defaultdict(set)
    for path in Path(tilewright.operators.__path__[0]).rglob("*"):
        if path.suffix in {".c", ".h"}:
            for name in _DEFINED.findall(path.read_text("utf-8")):
                files[name].add(path.name)
    assert len(files) > 100
    assert {name: sorted(places) for name, places in files.items() if len(places) > 1} == {}
