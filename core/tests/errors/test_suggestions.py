"""Mistyped names: the most similar one is named, nothing where none is similar."""

from __future__ import annotations

from tilewright.errors.suggestions import did_you_mean


def test_the_most_similar_is_named() -> None:
    assert did_you_mean("cortx-m4", ["cortex-m7", "cortex-m4", "generic"]) == ("did you mean 'cortex-m4'?",)


def test_nothing_is_guessed() -> None:
    assert did_you_mean("siracusa", ["generic", "host"]) == ()
    assert did_you_mean("x", []) == ()
