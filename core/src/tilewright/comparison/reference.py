"""Knows how to compute a graph value by value with the operators' numpy references: what every target must equal.
Does not know kernels, layouts or memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.errors import Exit, TilewrightError, typed, usage_error
from tilewright.ir.graphs.evaluation import results
from tilewright.ir.graphs.graph import Graph, Site
from tilewright.ir.graphs.operator import Operator

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_GIVE = "give every input of the graph an array of the type and shape that it declares"


def run(graph: Graph, inputs: Mapping[str, Array], operators: Mapping[str, Operator]) -> dict[str, Array]:
    """Every value of the graph by name, constants included, computed from `inputs` in the order of the nodes.

    TW6020 when an input is missing or has another shape or type than the graph declares.
    """
    values: dict[str, Array] = dict(graph.constants)
    for name in graph.inputs:
        values[name] = _checked_input(graph, name, inputs)
    for site in graph.sites():
        arrays = tuple(values[name] if name else None for name in site.node.inputs)
        values.update(zip(site.node.outputs, run_site(site, arrays, operators), strict=True))
    return values


def run_site(site: Site, arrays: Sequence[Array | None], operators: Mapping[str, Operator]) -> tuple[Array, ...]:
    """The outputs of one node for `arrays`, one per input (None where absent).

    Numpy makes scalars of arrays without dimensions: here they are arrays again.
    Overflow to infinity and invalid operations follow IEEE 754 silently, as they do in the generated C.
    TW9020 when the vocabulary has no such operator.
    """
    import numpy as np

    operator = operators.get(site.node.op)
    if operator is None:
        raise TilewrightError(
            "TW9020",
            f"no operator named {site.node.op!r} in the vocabulary",
            where=site.node.name,
            fix=(typed("tilewright", "ops", gives="shows those that are known; install the package that brings it"),),
            exit_code=Exit.INTERNAL,
        )
    with np.errstate(all="ignore"):
        return tuple(np.asarray(result) for result in results(operator, site, arrays))


def _checked_input(graph: Graph, name: str, inputs: Mapping[str, Array]) -> Array:
    tensor = graph.tensors[name]
    if name not in inputs:
        names = ", ".join(inputs) or "none"
        details = (f"given: {names}",)
        raise usage_error(
            "TW6020", f"no value given for graph input {name!r}", where=name, details=details, fix=(_GIVE,)
        )
    array = inputs[name]
    if tuple(array.shape) != tensor.shape or array.dtype != tensor.dtype.numpy:
        actual = f"{array.dtype.name}{list(array.shape)}"
        wanted = f"{tensor.dtype.numpy.name}{list(tensor.shape)}"
        raise usage_error(
            "TW6020", f"graph input {name!r} is {actual}, the model declares {wanted}", where=name, fix=(_GIVE,)
        )
    return array
