"""The registry is the same whatever was loaded first, and cannot be changed."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from form_kernels import NEG

from tilewright.ir.machines.kernel import Kernel
from tilewright.plugins.catalogue import Package
from tilewright.plugins.host import Loaded
from tilewright.plugins.offers import StageEvent
from tilewright.plugins.registry import clashes, idle_kernels, registry_of
from tilewright.testing.one_step import vocabulary


def _loaded(package: str, *kernels: str, heard: list[str] | None = None) -> Loaded:
    return Loaded(
        package=Package(name=package, version="1", requirement="", offers=()),
        hooks=(),
        values={"kernel": tuple(Kernel(name=name, op="Clip") for name in kernels)},
        observe=None if heard is None else lambda event: heard.append(package),
    )


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_order_of_loading_does_not_matter(order: tuple[int, ...]) -> None:
    heard: list[str] = []
    plugins = [_loaded("a", "z", "m", heard=heard), _loaded("b", "c", heard=heard), _loaded("c", "a", heard=heard)]
    registry = registry_of([plugins[index] for index in order])
    assert list(registry.kernels) == ["a", "c", "m", "z"]
    assert list(registry.provenance) == [("kernel", name) for name in ("a", "c", "m", "z")]
    assert registry.stage_finished(StageEvent(stage="bind", value=None)) == ()
    assert heard == ["a", "b", "c"]


def test_it_cannot_be_changed() -> None:
    registry: Any = registry_of([_loaded("a", "k")])
    with pytest.raises(TypeError):
        registry.kernels["other"] = None
    with pytest.raises(AttributeError):
        registry.kernels = {}


def test_clashes_name_every_owner_in_order() -> None:
    (fault,) = clashes([_loaded("b", "k", "own"), _loaded("c", "k"), _loaded("a", "k")])
    assert fault.packages == {"a", "b", "c"}
    assert fault.cause == "kernel 'k' is offered by a 1 and by b 1 and by c 1"


def test_a_kernel_for_an_operator_that_nobody_describes_is_named_with_what_is_meant() -> None:
    kernels = tuple(Kernel(name=f"acme.{op}", op=op) for op in ("Clip", "Relu", "Nonsense"))
    plugin = Loaded(
        package=Package(name="acme", version="1", requirement="", offers=()),
        hooks=(),
        values={"kernel": kernels, "operator": tuple(vocabulary().values())},
        observe=None,
    )
    nonsense, relu = idle_kernels(registry_of([plugin]))
    assert (relu.code, relu.severity) == ("TW8013", "warning")
    assert relu.message == (
        "kernel 'acme.Relu' of acme 1 is never used: no installed package describes an operator 'Relu'; "
        "ONNX's Relu is the operator Clip here"
    )
    assert nonsense.message.endswith("describes an operator 'Nonsense'")


def test_a_kernel_of_a_chain_brings_the_operator_of_it() -> None:
    kernels = tuple(
        Kernel(name=f"acme.{'_'.join(pattern)}", op=pattern[-1], pattern=pattern)
        for pattern in (("MatMul", "Add"), ("MatMul", "Nonsense"), ("Clip",), ("MatMul", "Concat"))
    )
    plugin = Loaded(
        package=Package(name="acme", version="1", requirement="", offers=()),
        hooks=(),
        values={"kernel": kernels, "operator": tuple(vocabulary().values())},
        observe=None,
    )
    registry = registry_of([plugin])
    assert set(registry.operators) - set(vocabulary()) == {"MatMul+Add"}
    assert str(registry.provenance["operator", "MatMul+Add"]) == "acme 1"
    variadic, unknown = idle_kernels(registry)
    assert unknown.message.startswith("kernel 'acme.MatMul_Nonsense' of acme 1 is never used")
    assert variadic.message.endswith("is never used: Concat has any number of inputs, which no chain has")


def test_a_kernel_of_values_in_forms_brings_the_operator_of_it() -> None:
    joined = replace(NEG, name="acme.concat16", op="Concat")
    plugin = Loaded(
        package=Package(name="acme", version="1", requirement="", offers=()),
        hooks=(),
        values={"kernel": (NEG, joined), "operator": tuple(vocabulary().values())},
        observe=None,
    )
    registry = registry_of([plugin])
    assert set(registry.operators) - set(vocabulary()) == {"Neg@stored"}
    assert registry.kernels[NEG.name].computes == "Neg@stored"
    (idle,) = idle_kernels(registry)
    assert idle.message == (
        "kernel 'acme.concat16' of acme 1 is never used: it has `stored`, and Concat has any number of inputs"
    )
