"""A step that writes where it may not is found on the host and on the twin, though its results are right."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from row_networks import ONE_MEMORY
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.programs.runner import Runner
from tilewright.runners.host import HostRunner
from tilewright.runners.twin import TwinRunner
from tilewright.runners.write_guard import Writable, _merged
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.validation.validation import validate, vectors_of

pytestmark = pytest.mark.slow

PLATFORMS = {platform.name: platform for platform in (ONE_MEMORY, CLUSTER)}
RUNNERS: dict[str, Runner] = {ONE_MEMORY.name: HostRunner(), CLUSTER.name: TwinRunner(seeds=(0,), modes=("lazy",))}
WRITTEN = 64  # bytes of its scratch that the kernel writes, whatever it declares


def model() -> bytes:
    """A small step before larger ones: beside its scratch there is memory that is nobody's yet."""
    nodes = [
        helper.make_node("Sigmoid", ["x"], ["small"], "squash"),
        helper.make_node("Concat", ["small"] * 16, ["large"], "repeat", axis=1),
        helper.make_node("Tanh", ["large"], ["y"], "bend"),
    ]
    ends = [helper.make_tensor_value_info(*end) for end in (("x", TensorProto.FLOAT, [1, 64]), ("y", 1, [1, 1024]))]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def deployment(target: str, declared: int) -> Deployment:
    """With a Sigmoid that computes the right thing, declares some scratch, and writes 64 bytes of it."""
    registry = registry_for(PLATFORMS[target])
    portable = registry.kernels["portable.sigmoid"]
    greedy = replace(
        portable,
        name="test.sigmoid",
        target=target,
        cycles=lambda tile: 1.0,
        scratch_bytes=lambda tile: declared,
        call=f"for (int i = 0; i < {WRITTEN}; ++i) {{ ((volatile uint8_t *)${{scratch}})[i] = (uint8_t)(i + 3); }}\n"
        + portable.call,
    )
    return Deployment(model(), target, None, replace(registry, kernels={**registry.kernels, greedy.name: greedy}))


@pytest.mark.parametrize("sanitize", [False, True])
@pytest.mark.parametrize("target", RUNNERS)
def test_scratch_beyond_what_is_declared_is_found(target: str, sanitize: bool) -> None:
    honest = deployment(target, WRITTEN)
    assert validate(honest, RUNNERS[target], vectors_of(honest, None, 1), sanitize=sanitize).passed
    greedy = deployment(target, 16)
    with pytest.raises(TilewrightError) as caught:
        validate(greedy, RUNNERS[target], vectors_of(greedy, None, 1), sanitize=sanitize)
    assert caught.value.exit_code is Exit.TOOLCHAIN
    assert caught.value.code == "TW7007"
    assert "step 'squash' wrote outside its outputs and its scratch: bytes" in str(caught.value)
    assert caught.value.where == "kernel test.sigmoid"


RANGES = st.lists(
    st.builds(
        Writable,
        step=st.integers(0, 2),
        area=st.integers(0, 1),
        offset_bytes=st.integers(0, 20),
        size_bytes=st.integers(1, 8),
    )
)


@given(ranges=RANGES)
def test_ranges_are_merged_without_a_byte_lost_or_won(ranges: list[Writable]) -> None:
    def members(ranges: list[Writable]) -> set[tuple[int, int, int]]:
        return {(one.step, one.area, one.offset_bytes + k) for one in ranges for k in range(one.size_bytes)}

    merged = list(_merged(sorted(ranges)))
    assert members(merged) == members(ranges)
    assert sum(one.size_bytes for one in merged) == len(members(ranges))
    assert merged == sorted(merged)
