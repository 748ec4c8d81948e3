"""Random float graphs as C, beside onnxruntime and onnx's own reference.

The graphs are those of `drawing.py`. Each is compiled to C, built with warnings as errors and run; its results are held
against both references, where these can compute it. A difference counts where they agree with each other: what they
do not agree on is left open. Refusals are counted by reason.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from fuzzing.drawing import LAST, Array, computed, drawn, ends_of, model
from fuzzing.frame import Fuzz, Outcome

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from conformance.batch import PASS, REFUSED, run_batch  # found only now
from conformance.cases import Case

RELATIVE, ABSOLUTE, LARGE = 1e-3, 1e-4, 1e5
BATCH = 25  # graphs in one program
# Where onnx's reference is no witness alone: op_type -> the version from which it does what the text says.
DOUBTFUL = {
    "Softmax": 13,
    "LogSoftmax": 13,
    "BatchNormalization": 14,
    "LpNormalization": LAST + 1,
    "GlobalMaxPool": LAST + 1,  # takes two axes for those of the image, however many there are
}


def case_of(seed: int) -> tuple[Case, bool] | None:
    """The graph as a case whose outputs both references agree on, and whether there are two; None where they differ."""
    d = drawn(seed)
    if not d.nodes:
        return None
    ends = ends_of(d)
    made = model(d, ends)
    if not ends:
        return None
    values = computed(d)
    expected = [values[name] for name in ends]
    theirs = by_onnxruntime(made, d.inputs)
    if theirs is None and any(d.opset < DOUBTFUL.get(node.op_type, 0) for node in d.nodes):
        return None
    if any(np.abs(array[np.isfinite(array)]).max(initial=0) > LARGE for array in expected):
        return None
    if theirs is not None and not all(map(near, expected, theirs)):
        return None
    case = Case(
        name=f"seed {seed}: {' '.join(node.op_type for node in d.nodes)} ({d.opset})",
        operator="",
        tier=0,
        opset=d.opset,
        expanded=False,
        baked=False,
        model=made.SerializeToString(),
        inputs=d.inputs,
        outputs=tuple(expected),
        relative=RELATIVE,
        absolute=ABSOLUTE * max(1.0, *(float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in expected)),
    )
    return case, theirs is not None


def by_onnxruntime(made: onnx.ModelProto, inputs: Mapping[str, Array]) -> list[Array] | None:
    """None where it cannot."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
        arrays = {name: np.asarray(array) for name, array in inputs.items()}
        return [np.asarray(array) for array in session.run(None, arrays)]
    except Exception:  # each of its errors has a type of its own
        return None


def near(left: Array, right: Array) -> bool:
    """Whether two references agree."""
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    size = float(np.abs(left[np.isfinite(left)]).max(initial=1))
    return bool(np.allclose(left, right, rtol=RELATIVE, atol=ABSOLUTE * size, equal_nan=True))


def outcomes(seeds: Sequence[int], _: argparse.Namespace, folder: Path) -> Iterator[Outcome]:
    """What became of the graphs, all of them in one program."""
    found = {f"seed {seed}": case_of(seed) for seed in seeds}
    cases = [each[0] for each in found.values() if each]
    ended = run_batch(cases, folder)
    for seed, each in found.items():
        if each is None:
            yield Outcome(seed, "left open")
            continue
        result, witnesses = ended[each[0].name], f", by {1 + each[1]} references"
        if result.status == PASS:
            yield Outcome(seed, f"right{witnesses}")
        elif result.status == REFUSED:
            yield Outcome(seed, f"refused: {reason_of(result.reason)}")
        else:
            (folder / f"{seed.replace(' ', '_')}.onnx").write_bytes(each[0].model)
            yield Outcome(each[0].name, result.status, result.reason[-400:])


def reason_of(refusal: str) -> str:
    """The line of a refusal that says why."""
    return refusal.splitlines()[-3 if "TW2101" in refusal else 0].strip()[:110]


FUZZ = Fuzz(about=__doc__ or "", outcomes=outcomes, batch=BATCH)
