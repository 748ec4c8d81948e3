"""The hooks, the kinds of things, and the registry are three views of one list."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from tilewright.plugins import hookspecs
from tilewright.plugins.host import HOOKS
from tilewright.plugins.kinds import KINDS, Kind
from tilewright.plugins.registry import Registry


def test_every_hook_belongs_to_a_kind_and_is_documented() -> None:
    declared = {name: item for name, item in vars(hookspecs).items() if name.startswith("tilewright_")}
    assert set(declared) == set(HOOKS)
    assert len(HOOKS) == 15
    for name, hook in declared.items():
        assert "Entry point `" in (inspect.getdoc(hook) or ""), name


def test_the_design_page_names_every_hook() -> None:
    page = Path(__file__).parents[3] / "docs" / "architecture.md"
    if not page.exists():
        pytest.skip("the core was unpacked without the documentation")
    text = page.read_text(encoding="utf-8")
    assert [hook for hook in HOOKS if f"`{hook}" not in text] == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.name))
def test_a_kind_has_a_place_in_the_registry_and_a_type(kind: Kind) -> None:
    assert kind.plural in {item.name for item in fields(Registry)}
    value_type = kind.value_type()
    named = {item.name for item in fields(value_type)} if is_dataclass(value_type) else vars(value_type)
    assert "name" in named
