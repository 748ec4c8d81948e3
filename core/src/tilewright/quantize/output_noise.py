"""Knows how far a network's outputs are from those of the float network that it was made of, on samples: as one number,
and element by element. Does not know how the network was quantised.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tilewright.quantize.samples import Samples
from tilewright.quantize.static import session

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

LARGEST, SMALLEST = sys.float_info.max, sys.float_info.min  # JSON has no infinity
ROOT = math.sqrt(LARGEST)  # what can be squared


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The float network on all samples: what the others are held to. `outputs`: [sample][output]."""

    samples: Samples
    outputs: tuple[tuple[Array, ...], ...] = field(repr=False)

    def noise(self, model: Path) -> float:
        """The mean over all outputs of the squared differences of this network, as a share of the squared output."""
        _, got = outputs_of(model, self.samples.inputs)
        pairs = zip(zip(*self.outputs, strict=True), zip(*got, strict=True), strict=True)
        return float(np.mean([_noise(np.stack(before), np.stack(after)) for before, after in pairs]))

    def drop(self, model: Path) -> float:
        """What is lost with this network: the share of samples whose label is not its argmax any more, less those
        whose label is only now; without labels the root of its noise.
        """
        if not self.samples.labels:
            return math.sqrt(self.noise(model))
        _, got = outputs_of(model, self.samples.inputs)
        right = [count_right(run, self.samples.labels) for run in (self.outputs, got)]
        return (right[0] - right[1]) / len(self.samples.labels)


def reference(model: Path, samples: Samples) -> Reference:
    """Of the float network."""
    return Reference(samples=samples, outputs=tuple(map(tuple, outputs_of(model, samples.inputs)[1])))


def outputs_of(model: Path, samples: Sequence[Mapping[str, Array]]) -> tuple[list[str], list[list[Array]]]:
    """The names of the outputs, and these for every sample."""
    runtime = session(model)
    return [value.name for value in runtime.get_outputs()], [runtime.run(None, dict(sample)) for sample in samples]


def count_right(outputs: Sequence[Sequence[Array]], labels: Sequence[int]) -> int:
    """The samples whose label is the argmax of the first output."""
    result = (int(np.argmax(sample[0])) for sample in outputs)
    return sum(predicted == label for predicted, label in zip(result, labels, strict=False))


def apart(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """|first - second|: 0 where both are the same NaN or infinity, the largest double where only one of them is."""
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(same, 0.0, np.nan_to_num(np.abs(first - second), nan=LARGEST, posinf=LARGEST))


def squared(values: npt.NDArray[np.float64]) -> float:
    """The sum of squares, of values that are not negative; at most the largest double."""
    return min(float(np.sum(np.minimum(values, ROOT) ** 2)), LARGEST)


def _noise(before: Array, after: Array) -> float:
    first, second = before.astype(np.float64), after.astype(np.float64)
    signal = squared(np.where(np.isfinite(first), np.abs(first), 0.0))
    return min(squared(apart(first, second)) / max(signal, SMALLEST), LARGEST)
