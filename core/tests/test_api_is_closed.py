"""Whatever the plugin API speaks of is in it: every class of the core in a field, an argument or an answer."""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any

import click
import numpy as np
import numpy.typing as npt
import pytest

from tilewright import api

LAYERS = sorted(path.stem for path in Path(api.__file__).parent.glob("*.py") if path.stem != "__init__")
LAYER_MODULES = {name: import_module(f"tilewright.api.{name}") for name in LAYERS}
OFFERED = {id(getattr(layer, name)) for layer in (api, *LAYER_MODULES.values()) for name in layer.__all__}
ELSEWHERE = {"Array": np.ndarray, "np": np, "npt": npt, "click": click}  # what annotations name beside the core's own
DOORS = {"Deployment", "Options", "SideBySide", "registry_for"}  # ways into the whole flow, which is the core's own


def _names() -> dict[str, Any]:
    """Every class and type of the core by its name, for annotations of names that only type checkers import."""
    modules = [module for name, module in sys.modules.items() if name.startswith("tilewright")]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type | UnionType) or getattr(value, "__module__", "") == "typing"
    }


def _spoken_of(value: Any, names: dict[str, Any]) -> Iterator[type]:
    for annotated in _annotated(value):
        known = {**names, **vars(sys.modules[annotated.__module__]), **ELSEWHERE}
        for hint in typing.get_type_hints(annotated, known).values():
            yield from _classes(hint)


def _annotated(value: Any) -> Iterator[Any]:
    """What has annotations: of a class its fields and public methods."""
    if not isinstance(value, type):
        yield from [inspect.unwrap(value)] * inspect.isfunction(inspect.unwrap(value))
        return
    if is_dataclass(value):
        yield value
    for name, member in vars(value).items():
        function = member.fget if isinstance(member, property) else member
        if not name.startswith("_") and inspect.isfunction(function) and function.__module__.startswith("tilewright"):
            yield function


def _classes(hint: Any) -> Iterator[type]:
    if isinstance(hint, type) and hint.__module__.startswith("tilewright."):
        yield hint
    for part in hint if isinstance(hint, list) else typing.get_args(hint):
        yield from _classes(part)


@pytest.mark.parametrize("layer", LAYERS)
def test_what_a_layer_speaks_of_is_offered_by_some_layer(layer: str) -> None:
    names = _names()
    missing = {
        f"{name}: {found.__name__}"
        for name in set(LAYER_MODULES[layer].__all__) - DOORS
        if callable(getattr(LAYER_MODULES[layer], name))
        for found in _spoken_of(getattr(LAYER_MODULES[layer], name), names)
        if id(found) not in OFFERED
    }
    assert missing == set()
