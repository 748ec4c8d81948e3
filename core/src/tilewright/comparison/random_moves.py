"""Knows how far passes that may change what is computed move outputs over random inputs. Does not know any pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.comparison.moves import LossyRun, moves_of
from tilewright.comparison.reference import run
from tilewright.comparison.vectors import random_vectors
from tilewright.comparison.verdicts import Move
from tilewright.ir.graphs.graph import Graph, Tensor
from tilewright.ir.graphs.operator import Operator

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_SETS = 4


def random_moves(
    runs: Sequence[LossyRun],
    inputs: Mapping[str, Tensor],
    begun: Mapping[str, Array],
    seed: int,
    graph: Graph,
    operators: Mapping[str, Operator],
) -> tuple[Move, ...]:
    """Of every output of each run. `inputs` and the states that have `begun` are those of `graph`."""
    drawn = [each.inputs for each in random_vectors(inputs, _SETS, seed, graph)]

    def values(computed: Graph) -> list[dict[str, Array]]:
        return [run(computed, {**each, **begun}, operators) for each in drawn]

    return tuple(move for each in runs for move in moves_of(each, values(each.before), values(each.after)))
