"""Knows `--io-type`: which inputs and outputs the application hands over as the integers they are quantised to.
Does not know how the graph's border changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tilewright.config.memory_pins import demand_io
from tilewright.config.options import Options
from tilewright.config.recurrent_state import state_io
from tilewright.errors import usage_error
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType

FLOAT = "float"  # as in the model
TYPES: Mapping[str, DType] = MappingProxyType(
    {"int8": DType.I8, "uint8": DType.U8, "int16": DType.I16, "uint16": DType.U16}
)


def border_types(graph: Graph, options: Options) -> dict[str, DType]:
    """What inputs and outputs are to be: `io_type` for all that are float or quantised, `io_type_of` for single ones.

    State, which the application never sees, stays as it is. TilewrightError (exit 2): TW1113 for a name that is no
    input or output, TW1120 for one that is state.
    """
    if options.io_type == FLOAT and not options.io_type_of:
        return {}
    ends = (*graph.inputs, *graph.outputs)
    demand_io(options.io_type_of, ends)
    states = state_io(options.states, graph)
    kept = [name for name in options.io_type_of if name in states]
    if kept:
        raise usage_error(
            "TW1120",
            f"--io-type names '{kept[0]}', which --state keeps from run to run: the application never sees it",
            fix=("leave that --io-type out",),
        )
    open_ends = [name for name in ends if name not in states and _quantisable(graph.tensors[name].dtype)]
    words = {**dict.fromkeys(open_ends, options.io_type), **options.io_type_of}
    return {name: TYPES[word] for name, word in words.items() if word != FLOAT}


def _quantisable(dtype: DType) -> bool:
    return dtype.is_float or dtype in TYPES.values()
