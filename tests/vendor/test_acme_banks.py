"""A memory in banks, and an engine that reads one operand while it writes another: each is in a bank, not both in one;
whoever places them, and checked by two who do not.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from tilewright.check.plans.plan import plan_faults
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Placement
from tilewright.testing.cluster import registry_for


def vendor() -> Any:
    """The vendor's module, as if it were installed."""
    path = Path(__file__).parent / "acme_cmd" / "acme_cmd.py"
    if "acme_cmd" not in sys.modules:
        spec = importlib.util.spec_from_file_location("acme_cmd", path)
        assert spec is not None and spec.loader is not None
        sys.modules["acme_cmd"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["acme_cmd"])
    return sys.modules["acme_cmd"]


CMD: Any = vendor()
WIDTHS = (30, 40, 50)
BANK = 1 << 10
SIMPLE = Options()


def model(*widths: int, same: bool = False) -> bytes:
    """Two layers, or a product of a value by itself."""
    from onnx import numpy_helper

    if same:
        nodes = [helper.make_node("Neg", ["x"], ["n"], "before"), helper.make_node("Mul", ["n", "n"], ["y"], "twice")]
        shape, weights = [1, widths[0]], []
    else:
        names = ["x", *(f"v{at}" for at in range(len(widths) - 2)), "y"]
        nodes = [
            helper.make_node("MatMul", [names[at], f"w{at}"], [names[at + 1]], f"layer{at}")
            for at in range(len(widths) - 1)
        ]
        weights = [
            numpy_helper.from_array(np.ones((widths[at], widths[at + 1]), np.float32), f"w{at}")
            for at in range(len(widths) - 1)
        ]
        shape = [1, widths[-1]]
    ends = [
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, widths[0]])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    ]
    graph = helper.make_graph(nodes, "g", *ends, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()


def deployed(
    onnx: bytes, *kernels: Kernel, options: Options = SIMPLE, allocator: str = "auto", machine: Platform | None = None
) -> Deployment:
    """A model on the vendor's machine, planned by an allocator, with the vendor's kernel and others."""
    registry = registry_for(machine or CMD.ACME_CMD, allocator=allocator)
    offered = {kernel.name: kernel for kernel in (CMD.ROWS, *kernels)}
    chosen = replace(options, allocator=allocator)
    return Deployment(onnx, "acme-cmd", chosen, replace(registry, kernels={**registry.kernels, **offered}))


def banks_of(plan: Allocated) -> Mapping[str, tuple[int, int]]:
    """By buffer in the memory with banks, those of its first and of its last byte."""
    sizes = {buffer.name: buffer.size_bytes for buffer in plan.tiled.buffers}
    return {
        name: (place.offset_bytes // BANK, (place.offset_bytes + sizes[name] - 1) // BANK)
        for name, place in plan.placements.items()
        if place.memory == "sram"
    }


def kernels_of(plan: Allocated) -> list[str]:
    return [binding.kernel.name for binding in plan.tiled.scheduled.bound.bindings.values()]


@pytest.mark.parametrize(
    "allocator", ["auto", "best-fit", "greedy-by-size", "hill-climb", "minimalloc", "minimalloc-python"]
)
def test_every_allocator_keeps_operands_in_banks_of_their_own(allocator: str) -> None:
    plan = deployed(model(*WIDTHS), allocator=allocator)
    assert kernels_of(plan.allocated) == ["acme.rows", "acme.rows"]
    banks = banks_of(plan.allocated)
    assert all(first == last for first, last in banks.values())
    assert banks["x"] != banks["v0"] != banks["y"]
    plan.program.verify()


def test_what_fills_a_bank_has_one_alone() -> None:
    """Vectors of a whole bank, and of a little less: only one way is left."""
    plan = deployed(model(BANK // 4, BANK // 4, BANK // 4 - 1)).allocated
    assert sorted(plan.placements[name].offset_bytes % BANK for name in ("x", "v0", "y")) == [0, 0, 0]
    assert banks_of(plan)["x"] != banks_of(plan)["v0"]


def test_an_operand_larger_than_a_bank_takes_another_kernel() -> None:
    plan = deployed(model(BANK // 4 + 1, 40, 50)).allocated
    assert kernels_of(plan) == ["portable.matmul_weights_f32", "acme.rows"]


def test_without_another_kernel_the_error_says_who_wants_what() -> None:
    pinned = Options(pins=Decisions(kernels={"layer0": "acme.rows"}))
    with pytest.raises(TilewrightError) as caught:
        _ = deployed(model(BANK // 4 + 1, 40, 50), options=pinned).allocated
    assert caught.value.code == "TW5068"
    assert (
        "kernel 'acme.rows' of 'layer0' wants A, Y each in one bank, no two of them in the same" in caught.value.message
    )
    assert "'x' takes 1,028 B" in caught.value.details


def test_one_bank_is_not_enough_for_two() -> None:
    pinned = replace(SIMPLE, memory={"sram": BANK})
    assert "acme.rows" not in kernels_of(deployed(model(*WIDTHS), options=pinned).allocated)


def test_a_value_that_is_two_operands_is_not_in_two_banks() -> None:
    square = Kernel(
        name="acme.mul", op="Mul", target="acme-cmd", engine="npu", banks=(("A", "B"),), cycles=lambda tile: 1.0,
        call="(void)${A};",
    )  # fmt: skip
    assert "acme.mul" not in kernels_of(deployed(model(40, same=True), square).allocated)
    with pytest.raises(TilewrightError) as caught:
        pins = Decisions(kernels={"twice": "acme.mul"})
        _ = deployed(model(40, same=True), square, options=Options(pins=pins)).allocated
    assert caught.value.code == "TW5068"


def test_a_tensor_of_the_caller_is_in_a_bank_that_nobody_knows() -> None:
    pinned = Options(pins=Decisions(kernels={"layer0": "acme.rows"}), io_inputs="user")
    with pytest.raises(TilewrightError) as caught:
        _ = deployed(model(*WIDTHS), options=pinned).allocated
    assert caught.value.code == "TW5068" and any("--io pool" in fix for fix in caught.value.fix)


@pytest.mark.parametrize("offset", [0, BANK - 64, BANK])
def test_both_checkers_see_operands_in_the_wrong_bank(offset: int) -> None:
    """Where `x` is when `v0` is in bank 0, or across the end of it; neither has code of the planner's."""
    plan = deployed(model(*WIDTHS))
    places = {**plan.allocated.placements, "v0": Placement(memory="sram", offset_bytes=256)}
    places |= {"x": Placement(memory="sram", offset_bytes=offset), "y": Placement(memory="sram", offset_bytes=2 * BANK)}
    moved = replace(plan.allocated, placements=places)
    right = offset == BANK
    told = [fault for fault in plan_faults(moved, plan.registry.operators) if "bank" in fault]
    assert bool(told) is not right and all("kernel 'acme.rows' of 'layer0'" in fault for fault in told)
    if not right:
        with pytest.raises(ValueError, match=r"kernel 'acme.rows' of 'layer0'"):
            replace(plan.program, allocated=moved).verify()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"bank_bytes": 1000}, "bank_bytes is 1000, not a power of two"),
        ({"bank_bytes": 1024, "align": 64}, "banks of 1024 bytes need align=1024"),
        ({"bank_bytes": 64, "align": 64, "kind": "const"}, "banks of 64 bytes need a memory of kind ram"),
    ],
)
def test_a_memory_whose_banks_cannot_be_is_refused(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Memory(name="sram", size_bytes=4096, **fields)
