"""Knows a network as a stream: what a call takes, computes and keeps, beside the network that is called with windows.
Does not know how any of it is worked out.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tilewright.comparison.reference import run
from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Graph, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.log_span import INFO, with_log_span
from tilewright.ir.rounding import ceil_div
from tilewright.rewrite.slide.choose import chosen
from tilewright.rewrite.slide.reuse import analyse
from tilewright.rewrite.slide.stream_plan import Streamer, StreamPlan
from tilewright.rewrite.slide.streaming_graph import Part, State, streaming_graph

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of a call that takes `hop` elements. `least`: products if all that can be is kept. `unpadded`: the same of these
    layers without padding along the axis. `phases`: calls after which all values have moved on by whole elements.
    """

    hop: int
    products: int
    state_bytes: int
    least: int
    unpadded: int
    phases: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Slid:
    """`graph` is called with `hop` elements of the input; `window` is the network that it was made of.

    When `graph`'s states begin as `states` say, call k gives what `window` gives for the elements up
    to those of call k, with `filler` before the first.
    """

    sliding: str
    axis: int
    hop: int
    window: Graph
    graph: Graph
    states: tuple[State, ...]
    parts: Mapping[str, Part]  # what tensors hold of the values of `window`
    filler: Array = field(compare=False)  # a window of what is before the first element
    cost: Cost
    whole_products: int
    unit: int  # multiples of which have one phase,
    strided: str  # and the first node with a stride

    @property
    def length(self) -> int:
        """Of the window along its axis."""
        return self.window.tensors[self.sliding].shape[self.axis]

    @property
    def warm_up(self) -> int:
        """Calls after which nothing of the window is filler."""
        return ceil_div(self.length, self.hop)

    @property
    def nearest(self) -> int:
        """The nearest hop that has one phase; 0 where that is no part of the window."""
        nearest = max(1, round(self.hop / self.unit)) * self.unit
        return nearest if nearest < self.length else (self.length - 1) // self.unit * self.unit

    def windows(self, frames: Iterable[Mapping[str, Array]]) -> Iterator[dict[str, Array]]:
        """What the whole network is given where the stream is given `frames`."""
        import numpy as np

        window = self.filler
        for frame in frames:
            joined = np.concatenate([window, frame[self.sliding]], axis=self.axis)
            window = np.ascontiguousarray(joined.take(range(self.hop, joined.shape[self.axis]), axis=self.axis))
            yield {**frame, self.sliding: window}

    def expected(self) -> Callable[[Mapping[str, Array]], dict[str, Array]]:
        """A function of the values that the whole network has on its window, called for one window after another: what
        a call hands out, what it computes and what its states hold.
        """
        import numpy as np

        holds = {state.output: state.initial for state in self.states}

        def of(values: Mapping[str, Array]) -> dict[str, Array]:
            for state in self.states:
                newest = state.kept.of(values)
                if state.lag > 1:
                    newest = np.concatenate([holds[state.output][len(newest) :], newest])
                holds[state.output] = newest
            handed_out = {name: values[name] for name in self.window.outputs}
            return {**handed_out, **holds, **{name: part.of(values) for name, part in self.parts.items()}}

        return of

    @property
    def note(self) -> Diagnostic:
        """What a call computes, keeps and means."""
        tensor = self.window.tensors[self.sliding]
        share = 100 * self.cost.products / max(self.whole_products, 1)
        filler = _filler_value(tensor)
        return Diagnostic(
            code="TW5040",
            severity="note",
            message=f"a call takes {self.hop} of the {tensor.shape[self.axis]:,} elements of '{self.sliding}' along "
            f"axis {self.axis}, and computes {self.cost.products:,} of {self.whole_products:,} products ({share:.3g}%)",
            details=(
                f"{self.cost.state_bytes:,} bytes of state are kept from call to call",
                f"after a reset the window holds {filler}, and {self.warm_up:,} calls fill it; every call gives what "
                "the whole network gives for the window at that time",
                *self._phases_note,
            ),
        )

    @property
    def _phases_note(self) -> tuple[str, ...]:
        if self.cost.phases == 1:
            return ()
        flag = "--slide " + shlex.quote(f"{self.sliding}[{self.axis}]={self.nearest}")
        return (
            f"calls take turns in {self.cost.phases} phases, because '{self.strided}' moves on by a part of an "
            f"element: what is kept behind it is kept as often; {flag if self.nearest else 'no HOP'} takes one phase",
        )


def hop_unit(graph: Graph, operators: Mapping[str, Operator], sliding: str, axis: int) -> tuple[int, str]:
    """With multiples of this as its hop a stream has one phase, and the first node with a stride along the axis."""
    reuse = analyse(graph, operators, sliding, axis, 1)
    unit = reuse.hop_unit
    for node in graph.nodes:
        own = reuse.axes.get(node.outputs[0])
        if own and own.length > 1 and own.stride > 1:
            return unit, node.name
    return unit, ""


def costs(graph: Graph, operators: Mapping[str, Operator], sliding: str, axis: int, hops: Iterable[int]) -> list[Cost]:
    """What calls of different hops cost."""
    return [_planned(graph, operators, sliding, axis, hop)[2] for hop in hops]


@with_log_span(INFO, "rewrite: a window that slides")
def slid(graph: Graph, operators: Mapping[str, Operator], sliding: str, axis: int, hop: int) -> Slid:
    """The network that is called with `hop` new elements instead of whole windows."""
    streamer, plan, cost = _planned(graph, operators, sliding, axis, hop)
    inputs = {name: _filled(graph.tensors[name]) for name in graph.inputs}
    filled = run(graph, inputs, operators)
    unit, strided = hop_unit(graph, operators, sliding, axis)
    streaming, states, parts = streaming_graph(graph, streamer.reuse, plan, sliding, operators, filled)
    return Slid(
        sliding=sliding,
        axis=axis,
        hop=hop,
        window=graph,
        graph=streaming,
        states=states,
        parts=parts,
        filler=inputs[sliding],
        cost=cost,
        whole_products=streamer.whole_products,
        unit=unit,
        strided=strided,
    )


def _planned(
    graph: Graph, operators: Mapping[str, Operator], sliding: str, axis: int, hop: int
) -> tuple[Streamer, StreamPlan, Cost]:
    padded, unpadded = (
        Streamer(
            graph=graph,
            operators=operators,
            sliding=sliding,
            reuse=analyse(graph, operators, sliding, axis, hop, padded=padded),
        )
        for padded in (True, False)
    )
    plan = chosen(padded)
    cost = Cost(
        hop=hop,
        products=plan.products,
        state_bytes=plan.state_bytes,
        least=padded.least.products,
        unpadded=unpadded.least.products,
        phases=padded.reuse.phases,
    )
    return padded, plan, cost


def _filled(tensor: Tensor) -> Array:
    import numpy as np

    return np.full(tensor.shape, _filler_value(tensor)).astype(tensor.dtype.numpy)


def _filler_value(tensor: Tensor) -> int:
    """What stands for 0 in a tensor."""
    quantization = tensor.quantization
    return quantization.zero_point[0] if quantization and len(quantization.zero_point) == 1 else 0
