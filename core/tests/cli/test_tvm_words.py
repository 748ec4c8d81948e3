"""Words of TVM's users, one by one or with `=`, and everything else as it was typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.cli.tvm_words import spelled_out


@pytest.mark.parametrize(("typed", "words"), [
    ("--workspace-pool-sram size_hint_bytes=4096 m.onnx", "--pool-detail sram=size_hint_bytes=4096 m.onnx"),
    ("--usmp-parameter-pool-flash=size=9 m.onnx", "--pool-detail flash=size=9 m.onnx"),
    ("--usmp-workspace-pool-sram= target=c;size=1 m.onnx", "--pool-detail sram=target=c;size=1 m.onnx"),
    ("m.onnx --workspace-pool-sram", "m.onnx --pool-detail sram"),  # left for the parser to refuse
    ("--workspace-pool-a --workspace-pool-b c", "--pool-detail a=--workspace-pool-b c"),
    ("--workspace-pools a,b --parameter-pools=c", "--workspace-pools a,b --parameter-pools=c"),
    ("--workspace-pool-9a x --Workspace-pool-a x", "--workspace-pool-9a x --Workspace-pool-a x"),
])  # fmt: skip
def test_words(typed: str, words: str) -> None:
    assert spelled_out(typed.split()) == words.split()


@given(st.lists(st.text(max_size=8).filter(lambda word: "pool" not in word)))
def test_other_words_stay(words: list[str]) -> None:
    assert spelled_out(words) == words
