"""Knows what quantisation did to a network: its outputs before and after, and the values that lost most.
Does not know how it was quantised.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.log_span import INFO, with_log_span
from tilewright.quantize.output_noise import ROOT, SMALLEST, apart, count_right, outputs_of, squared
from tilewright.quantize.samples import Samples
from tilewright.quantize.static import Reader

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputAccuracy:
    """One output over all samples, quantised beside float."""

    name: str
    samples: int
    same_argmax: int  # samples whose largest element is the same
    sqnr_db: float | None  # signal to quantisation noise, decibels; None: no noise at all
    largest_difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """What the samples say of both networks. `right_*` count samples whose label is the argmax of the first output."""

    outputs: tuple[OutputAccuracy, ...]
    labelled: int  # samples with a label
    right_float: int
    right_quantised: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueLoss:
    """A value inside the network, and how much of it is left after all layers up to it were quantised."""

    name: str
    sqnr_db: float


@with_log_span(INFO, "compare: both networks on the samples")
def accuracy(before: Path, after: Path, samples: Samples) -> Accuracy:
    """Run both networks on all samples."""
    names, expected = outputs_of(before, samples.inputs)
    _, got = outputs_of(after, samples.inputs)
    right = [count_right(run, samples.labels) for run in (expected, got)]
    return Accuracy(
        outputs=tuple(
            _compare(name, [run[at] for run in expected], [run[at] for run in got]) for at, name in enumerate(names)
        ),
        labelled=len(samples.labels),
        right_float=right[0],
        right_quantised=right[1],
    )


@with_log_span(INFO, "compare: every value of both networks")
def largest_losses(
    before: Path, after: Path, samples: Sequence[Mapping[str, Array]], count: int, folder: Path
) -> tuple[ValueLoss, ...]:
    """The `count` values of the network with the smallest ratio of signal to noise, worst first."""
    from onnxruntime.quantization import qdq_loss_debug as debug

    collected = []
    for model in (before, after):
        shown = folder / f"shown_{model.name}"
        debug.modify_model_output_intermediate_tensors(str(model), str(shown))
        collected.append(debug.collect_activations(str(shown), Reader(samples)))
    pairs = debug.create_activation_matching(collected[1], collected[0])
    losses = debug.compute_activation_error(pairs)
    losses_of = [ValueLoss(name=name, sqnr_db=round(float(loss["xmodel_err"]), 1)) for name, loss in losses.items()]
    kept = [loss for loss in losses_of if math.isfinite(loss.sqnr_db)]
    return tuple(sorted(kept, key=lambda loss: (loss.sqnr_db, loss.name))[:count])


def _compare(name: str, before: Sequence[Array], after: Sequence[Array]) -> OutputAccuracy:
    first, second = (np.stack(run).astype(np.float64) for run in (before, after))
    differences = apart(first, second)
    noise = squared(differences)
    signal = float(np.sum(np.square(first, where=np.abs(first) < ROOT, out=np.zeros_like(first))))
    return OutputAccuracy(
        name=name,
        samples=len(before),
        same_argmax=sum(
            bool(np.argmax(left) == np.argmax(right)) for left, right in zip(before, after, strict=True) if left.size
        ),
        sqnr_db=round(10 * (math.log10(max(signal, SMALLEST)) - math.log10(noise)), 1) if noise else None,
        largest_difference=float(np.max(differences, initial=0.0)),
    )
