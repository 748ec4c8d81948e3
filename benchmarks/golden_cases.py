"""Counts which of somebody's networks are right: a folder of cases with inputs, and outputs that they must have.

    python benchmarks/golden_cases.py FOLDER [--target generic] [--portable] [--on host] [--only TEXT]

A case is a folder with `network.onnx`, `inputs.npz` and `outputs.npz`, the arrays by name or in the order of the
model's inputs and outputs. Whole numbers must be equal. Floats may differ by 1e-4 of the largest of the output, those
of 16 bits by 2^-7; who made them had a library of his own. `--on reference` computes with numpy, before and behind the
graph passes, and compiles nothing. `--portable` leaves out the kernels of the target's package.

Files that declare floats and mean integers do not say how many bits these have. As their authors' tools do, this
script takes the smallest type that holds the input (`--io-type`), where all arrays of a case are whole numbers.

A line for each case: `right`, `wrong` with how many elements, or `refused` with the reason; and their counts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from tilewright.api import TilewrightError
from tilewright.api.deployment import Deployment, Options
from tilewright.api.runner import Job
from tilewright.comparison.reference import run
from tilewright.plugins import load_named

TOLERANCE = 1e-4
HALF_TOLERANCE = 2.0**-7  # of floats of 16 bits
WHOLE = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-(2**15), 2**15 - 1), "int32": (-(2**31), 2**31 - 1)}


@dataclass(frozen=True)
class Case:
    """One network and what it must give."""

    name: str
    folder: Path

    def arrays(self, file: str) -> dict[str, Any]:
        """The arrays of a file, in order."""
        with np.load(self.folder / file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}


def cases(folder: Path) -> list[Case]:
    """All complete ones below the folder."""
    result = sorted(file.parent for file in folder.rglob("network.onnx"))
    complete = [each for each in result if (each / "inputs.npz").exists() and (each / "outputs.npz").exists()]
    return [Case(str(each.relative_to(folder)), each) for each in complete]


def io_types(case: Case, arrays: dict[str, Any]) -> dict[str, str]:
    """The smallest type of every input that the file declares wider, where everything is a whole number."""
    import onnx

    everything = (*arrays.values(), *case.arrays("outputs.npz").values())
    if not all(np.array_equal(array, np.rint(array)) for array in everything):
        return {}
    graph = onnx.load(case.folder / "network.onnx").graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in constants]
    wide = (onnx.TensorProto.FLOAT, onnx.TensorProto.INT32)
    pairs = [
        (value, array)
        for value, array in zip(inputs, arrays.values(), strict=False)
        if value.type.tensor_type.elem_type in wide
    ]
    return {value.name: _smallest(array) for value, array in pairs if _smallest(array)}


def _smallest(array: Any) -> str:
    low, high = array.min(initial=0), array.max(initial=0)
    return next((name for name, (least, most) in WHOLE.items() if least <= low and high <= most), "")


def deployed(case: Case, arrays: dict[str, Any], words: argparse.Namespace) -> Deployment:
    """The network with integers where it has them; as it is where it cannot have any."""
    chosen = {"settings": dict(words.set), "memory": {name: int(size) for name, size in words.memory}}
    for types in (io_types(case, arrays), {}):
        options = Options(io_type_of=types, **chosen)
        made = Deployment(case.folder / "network.onnx", words.target, options)
        try:
            _ = made.imported
        except TilewrightError as error:
            if error.code == "TW1120":
                continue
            raise
        return _portable(made, options) if words.portable else made
    raise AssertionError("a network without integers has no types to be refused")


def _portable(made: Deployment, options: Options) -> Deployment:
    """The same without kernels that are for one target."""
    kept = {name: kernel for name, kernel in made.registry.kernels.items() if kernel.target == "*"}
    registry = replace(made.registry, kernels=MappingProxyType(kept))
    return Deployment(made.model, made.target, options, registry=registry)


def outcome(case: Case, words: argparse.Namespace) -> tuple[str, str]:
    """`right`, `wrong` or `refused`, and what there is to say."""
    arrays = case.arrays("inputs.npz")
    try:
        made = deployed(case, arrays, words)
        graph = made.rewritten.graph
        inputs = given_arrays(graph, arrays)
        result = _by_reference(made, inputs) if words.on == "reference" else [_run(made, inputs, words.on)]
    except TilewrightError as error:
        return "refused", f"{error.code} {error.message} {' | '.join(map(str, error.details[:2]))}"
    wrong = [text for outputs in result for text in differences(outputs, case.arrays("outputs.npz"))]
    return ("wrong", "; ".join(wrong)) if wrong else ("right", "")


def given_arrays(graph: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    named = arrays if set(graph.inputs) <= arrays.keys() else dict(zip(graph.inputs, arrays.values(), strict=False))
    inputs = {}
    for name, array in ((name, named[name]) for name in graph.inputs):
        tensor = graph.tensors[name]
        inputs[name] = np.asarray(array).reshape(tensor.shape).astype(tensor.dtype.numpy)
    return inputs


def _by_reference(made: Deployment, inputs: dict[str, Any]) -> list[dict[str, Any]]:
    graphs, operators = (made.imported.graph, made.rewritten.graph), made.registry.operators
    values = [run(graph, inputs, operators) for graph in graphs]
    return [{name: value[name] for name in graph.outputs} for graph, value in zip(graphs, values, strict=True)]


def _run(made: Deployment, inputs: dict[str, Any], runner: str) -> dict[str, Any]:
    job = Job(artifact=made.artifact, plan=made.allocated, prefix=made.prefix, input_sets=(inputs,))
    with tempfile.TemporaryDirectory() as folder:
        (outputs,) = load_named(("runner", runner)).runners[runner].run(job, Path(folder)).outputs
    return {name: outputs[name] for name in made.outputs}


def differences(outputs: dict[str, Any], golden: dict[str, Any]) -> list[str]:
    """What is not as it must be. Outputs go by name where all names are the model's, else in order."""
    named = outputs if golden.keys() <= outputs.keys() else dict(zip(golden, outputs.values(), strict=False))
    missing = [f"there is no output {name}" for name in golden if name not in named]
    return missing + [text for name in golden if name in named for text in _differing(name, named[name], golden[name])]


def _differing(name: str, output: Any, expected: Any) -> list[str]:
    result, wanted = (np.asarray(each, np.float64).reshape(-1) for each in (output, expected))
    if result.size != wanted.size:
        return [f"output {name} has {result.size} elements, not {wanted.size}"]
    dtype = np.asarray(output).dtype
    if dtype.kind in "iu":
        allowed = 0.0
    else:
        step = TOLERANCE if dtype.itemsize > 2 else HALF_TOLERANCE
        allowed = step * max(np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0), 1.0)
    with np.errstate(invalid="ignore"):
        distance = np.where(result == wanted, 0.0, np.abs(result - wanted))
    wrong = ~(distance <= allowed)
    return (
        [f"{int(wrong.sum())} of {wrong.size} elements of {name} differ, by up to {distance.max():g}"]
        if wrong.any()
        else []
    )


def main(words: argparse.Namespace) -> int:
    """The exit code: 1 where a case is wrong."""
    counts: Counter[str] = Counter()
    for case in cases(words.folder):
        if words.only in case.name:
            kind, reason = outcome(case, words)
            counts[kind] += 1
            print(f"{kind:<8}{case.name}  {reason}".rstrip(), flush=True)
    print(
        f"{sum(counts.values())} cases: "
        + ", ".join(f"{counts[kind]} {kind}" for kind in ("right", "wrong", "refused"))
    )
    return 1 if counts["wrong"] else 0


def pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", default="generic")
    parser.add_argument("--portable", action="store_true")
    parser.add_argument("--on", default="host", metavar="RUNNER", help="a runner, or `reference`")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with this in their names")
    parser.add_argument("--set", type=pair, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--memory", type=pair, action="append", default=[], metavar="NAME=BYTES")
    sys.exit(main(parser.parse_args()))
