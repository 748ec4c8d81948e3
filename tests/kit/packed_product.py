"""A product of one row by constant rows, on a cluster, by a kernel that packs these rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.machines.kernel import Kernel
from tilewright.testing.cluster import CLUSTER, cluster, registry_for

ROWS, COLUMNS = 50, 40


def planned(kernel: Kernel, scratchpad_bytes: int) -> Deployment:
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width])]
        for name, width in (("x", COLUMNS), ("y", ROWS))
    ]
    weights = numpy_helper.from_array(np.ones((COLUMNS, ROWS), np.float32), "w")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "only")], "g", *ends, [weights])
    onnx = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    registry = registry_for(cluster(scratchpad_bytes))
    return Deployment(
        onnx, CLUSTER.name, Options(), replace(registry, kernels={**registry.kernels, kernel.name: kernel})
    )
