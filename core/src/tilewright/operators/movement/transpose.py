"""Knows Transpose: axis i of the output is axis perm[i] of the input. With perm the identity it is a change of layout.
Does not know when layouts make it free; `schedule` asks `alias`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, with_halves
from tilewright.ir.graphs.operator import Alias, Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.layout import Layout, row_major, same_bytes, transposed
from tilewright.operators.movement.copying import COPY_CALL, COPY_INCLUDES, Move, copy_source, copy_values
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]


def _perm(site: Site) -> tuple[int, ...]:
    return site.node.integers("perm")


def _infer(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    if sorted(_perm(site)) != list(range(len(x.shape))):
        raise shape_error(site, f"perm {list(_perm(site))} is no permutation of the {len(x.shape)} axes")
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=tuple(x.shape[axis] for axis in _perm(site))),)


def _access(site: Site) -> Access:
    perm = _perm(site)
    loops = [f"a{axis}" for axis in range(len(perm))]
    source = ", ".join(loops[perm.index(axis)] for axis in range(len(perm)))
    text = f"{' '.join(loops)} : X[{source}] -> Y[{', '.join(loops)}]"
    return parse_map(text).bind({"X": site.input(0).shape, "Y": site.output.shape})


def _alias(site: Site, layouts: Mapping[str, Layout]) -> tuple[Alias, ...]:
    x, y = site.input(0), site.output
    free = same_bytes(y.shape, layouts[y.name], transposed(layouts.get(x.name, row_major(len(x.shape))), _perm(site)))
    return (Alias(value=y.name, of=x.name),) if free else ()


def _values(call: Call) -> Mapping[str, object]:
    x, y = call.operands["X"], call.operands["Y"]
    steps = tuple(x.strides[axis] for axis in _perm(call.site))
    move = Move(source=str(x), target=str(y), extents=y.extents, source_steps=steps, target_steps=y.strides)
    return copy_values(y.dtype, [move])


def _import(node: OnnxNode, graph: Conversion) -> None:
    rank = len(graph.tensor(node.inputs[0]).shape)
    perm = node.integers("perm", tuple(reversed(range(rank))))
    if perm == row_major(rank):
        graph.rename(node, node.inputs[0])
        return
    graph.emit(node, "Transpose", node.inputs, node.outputs, {"perm": perm})


TRANSPOSE = Operator(
    name="Transpose",
    inputs=("X",),
    outputs=("Y",),
    summary="axes in another order",
    infer=_infer,
    reference=lambda site, inputs: (np.asarray(inputs[0]).transpose(_perm(site)).copy(),),
    access=_access,
    alias=_alias,
    imports=with_halves(
        Import(op_type="Transpose", since=1, attributes={"perm": "INTS"}, convert=_import),
    ),
)

TRANSPOSE_COPY = Kernel(
    name="portable.transpose",
    op="Transpose",
    parallel=("*",),
    values=_values,
    source=copy_source,
    call=COPY_CALL,
    includes=COPY_INCLUDES,
)

OPERATORS = (TRANSPOSE,)
KERNELS = (TRANSPOSE_COPY,)
