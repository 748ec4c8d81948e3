"""No test calls `cc`, which a machine need not have: the fixture of that name gives the compiler that the product
finds. Tests of what gcc or clang say ask for these by name, with `tool`."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIRST_WORD = re.compile(r"""[\[(]\s*["'](?:cc|c\+\+|g\+\+)["'],\s*(?:\*|f?["']-)""")


def test_commands_of_tests_do_not_begin_with_a_compilers_name() -> None:
    files = [file for place in ("core/tests", "tests", "plugins") for file in (ROOT / place).rglob("*.py")]
    assert len(files) > 500
    assert FIRST_WORD.search('run(["' + 'cc", *STRICT])') and FIRST_WORD.search('("' + 'cc", "-O2")')
    assert [file.name for file in files if FIRST_WORD.search(file.read_text("utf-8"))] == []
