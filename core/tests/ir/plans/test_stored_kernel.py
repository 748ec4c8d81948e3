"""A kernel of values in forms is asked about the network's node and called with what is stored; a bound graph with
forms is saved and read, and its C computes what it should.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from form_kernels import GROUPS, NEG, NEG_ROWS
from networks_in_forms import bound, network
from onnx import TensorProto, helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.stored_sites import logical_site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.plans.stages import Bound
from tilewright.ir.plans.stored_kernel import StoredKernel, stored_forms, stored_site, storing
from tilewright.ir.tensors.stored_form import Groups, Rows, Stored
from tilewright.runners.twin import TwinRunner
from tilewright.snapshot.saved_stage import read_stage, save_stage
from tilewright.testing.cluster import cluster, offering, registry_for
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of
from tilewright.validation.validation import validate, vectors_of

OPERATOR = vocabulary()["Neg"]
IMAGE = np.zeros((1, 20, 4, 6), np.float32)


def test_functions_see_the_network_and_the_map_what_is_stored() -> None:
    seen: list[Any] = []
    curious = replace(
        NEG, scratch_bytes=lambda tile: seen.append(tile.site) or 8, describe=lambda site: {"at": site.node.op}
    )
    kernel = storing(curious, OPERATOR)
    assert isinstance(kernel, StoredKernel) and storing(kernel, OPERATOR) is kernel
    plain = site_of(OPERATOR, [IMAGE])
    site = stored_site(plain, OPERATOR, stored_forms(NEG, OPERATOR, layer_of(OPERATOR, NEG, plain).site))
    layer = layer_of(vocabulary()["Neg"], kernel, site)
    assert [loop.extent for loop in layer.access.loops] == [1, 2, 4, 6]
    assert (kernel.scratch_bytes(layer.whole), layer.facts) == (8, {"at": "Neg"})
    assert (seen[0].node.op, seen[0].input(0).shape) == ("Neg", IMAGE.shape)
    assert logical_site(site, OPERATOR) == plain
    assert layer.required == {"X": (0, 1, 2, 3, 4), "Y": (0, 1, 2, 3, 4)}


def test_a_node_in_other_forms_is_refused() -> None:
    plain = site_of(OPERATOR, [IMAGE])
    forms = stored_forms(NEG, OPERATOR, layer_of(OPERATOR, NEG, plain).site)
    other = replace(NEG, stored=lambda site: {"X": Stored(form=GROUPS), "Y": Stored(form=GROUPS, fill=1)})
    assert storing(other, OPERATOR).match(stored_site(plain, OPERATOR, forms)) == "stores operands in other forms"


def deployment(kernel: Kernel, scratchpad_bytes: int) -> Deployment:
    """Neg, Abs, Neg, the portable Neg too slow to be wanted."""
    registry = registry_for(cluster(scratchpad_bytes))
    slow = replace(registry.kernels["portable.neg"], cycles=lambda tile: 1e6)
    registry = offering(replace(registry, kernels={**registry.kernels, "portable.neg": slow}), kernel)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 20, 9, 11]) for name in "ad"]
    nodes = [
        helper.make_node(op, [x], [y], op + x) for op, x, y in (("Neg", "a", "b"), ("Abs", "b", "c"), ("Neg", "c", "d"))
    ]
    model = helper.make_model(
        helper.make_graph(nodes, "g", *[[end] for end in ends]), opset_imports=[helper.make_opsetid("", 17)]
    )
    return Deployment(model.SerializeToString(), "cluster-test", Options(), registry)


@pytest.mark.slow
@pytest.mark.parametrize("scratchpad_bytes", [64 << 10, 3 << 10])
@pytest.mark.parametrize("kernel", [NEG, NEG_ROWS], ids=["groups", "rows"])
def test_the_twin_computes_it(kernel: Kernel, scratchpad_bytes: int) -> None:
    plan = deployment(kernel, scratchpad_bytes)
    assert [node.op for node in plan.bound.graph.nodes] == ["ToStored", "Neg@stored", "Abs", "Neg@stored", "FromStored"]
    assert validate(plan, TwinRunner(seeds=(0, 1)), vectors_of(plan, None, 1)).verdict.passed


def test_what_is_bound_is_saved_and_read(tmp_path: Path) -> None:
    plan = deployment(NEG_ROWS, 64 << 10)
    save_stage(plan.bound, tmp_path)
    again = read_stage(tmp_path, plan.registry)
    assert isinstance(again, Bound) and again.graph == plan.bound.graph
    assert [each.kernel for each in again.bindings.values()] == [each.kernel for each in plan.bound.bindings.values()]


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (
            {"X": Stored(form=Groups(axis=7, size=16))},
            "[1, 20, 4, 6] has no form 'axis 7 in groups of 16': there is no",
        ),
        ({"Z": Stored(form=GROUPS)}, "there is no operand Z"),
        ({"X": "NHWC"}, "'NHWC' is no Stored(form=..., fill=...)"),
        ({"X": Stored(form=Rows(axes=(), multiple_bytes=4))}, "[] are no axes of a row"),
    ],
)
def test_a_form_that_values_cannot_have_is_the_kernels_fault(stored: Any, reason: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        bound(network("Neg"), replace(NEG, stored=lambda site: stored))
    assert caught.value.code == "TW5080"
    assert "kernel 'acme.neg16' stores" in caught.value.message and reason in caught.value.message
    assert "test_stored_kernel.py:" in caught.value.where
    assert "match" in caught.value.fix[0]


def test_a_kernel_with_forms_says_what_it_reads_of_them() -> None:
    with pytest.raises(ValueError, match=r"'acme.neg16' has `stored`, and says no `access`"):
        replace(NEG, access=None)
    with pytest.raises(ValueError, match=r"'acme.neg16' has `stored`, and computes a chain"):
        replace(NEG, pattern=("Abs", "Neg"))
