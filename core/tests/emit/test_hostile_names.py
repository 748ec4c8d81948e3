"""Tensor and node names that attack: the C still compiles, and nothing of them is in it but letters."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError

ATTACKS = [
    ("int", "INT"),
    ("a.b", "A_B"),
    ('x"; int evil; //', "*/ int evil; /*"),
    ("x\n#error injected", "x\\\n#error injected"),
    ("tw_status", "toy_ctx"),
    ("ram", "flash"),
    ("ctx", "inputs"),
    ("status", "pools"),
    ("toy", "toy_run"),
    ("??/", "\u202eevil\u202c"),
    ("NULL", "linux"),
    ("x" * 100_000, "x" * 100_001),
    ("uint8_t", "memcpy"),
    ("INT8_MAX", "SIZE_MAX"),
    ("signbit", "M_SQRT2"),
]


@pytest.mark.slow
@pytest.mark.parametrize("names", ATTACKS, ids=range(len(ATTACKS)))
@pytest.mark.parametrize("io", ["pool", "user"])
def test_it_compiles(toy: Any, cc: Any, tmp_path: Path, names: tuple[str, str], io: str) -> None:
    files = toy.write(toy.artifact(toy.program(toy.graph(names=names), io=io)), tmp_path / "toy")
    for name in ("toy.c", "toy_simple.c"):
        flags = ("-std=c11", "-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror")
        subprocess.run([*cc(*flags), "-c", "-o", tmp_path / "object.o", files / name], check=True)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1, max_size=30), st.text(min_size=1, max_size=30))
def test_nothing_leaves_its_comment(toy: Any, one: str, other: str) -> None:
    if one in ("b", "biased", "turned", "again") or other in ("b", "biased", "turned", "again") or one == other:
        return
    plain = toy.artifact(toy.program(toy.graph())).files["toy.c"].decode()
    text = toy.artifact(toy.program(toy.graph(names=(one, other)))).files["toy.c"].decode()
    for token in ("/*", "*/", '"', "#", "{", ";"):
        assert text.count(token) == plain.count(token), token
    words, plain_words = (re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL).split() for code in (text, plain))
    assert len(words) == len(plain_words)  # however long lines are broken


@pytest.mark.parametrize("prefix", ["int", "9x", "a b", "tw_x", "printf", 'x";', "a__b"])
def test_a_bad_prefix_is_refused(toy: Any, prefix: str) -> None:
    with pytest.raises(TilewrightError) as refused:
        toy.program(toy.graph(), prefix)
    assert refused.value.code == "TW1004"
    assert refused.value.fix
