"""Random float graphs in little scratchpad: every step of every graph on the twin of a machine with several cores.

    python benchmarks/random_float_tiles.py [--target siracusa] [--seeds 0:100] [--set NAME=VALUE] [--memory NAME=SIZE]
                                            [--half]

The graphs are those of `random_float_graphs.py` with longer axes, operands without elements among them. The scratchpad
has one of a few sizes; where that is too small, the size that the refusal names, which must do. With --half they are of
float16. A line for each graph that is not right, and how many there were of what; the exit code is the number of
failures.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import random_float_graphs
from onnx import TensorProto, numpy_helper
from random_networks import machine_options, run_of

from tilewright.config.options import Options
from tilewright.errors import Exit, TilewrightError
from tilewright.plugins import load_for

EXTENTS = (1, 3, 8, 13, 29)
SIZES = (1500, 3000, 6000, 12000, 24000)
REFUSED = (Exit.UNSUPPORTED, Exit.MODEL)
Outcomes = Callable[[Path, argparse.Namespace, Options, str], Iterable[tuple[str, str]]]  # what, and what is wrong
MOST_SIZES = 2  # that a refusal names, one after the other


def written(seed: int, file: Path) -> str:
    """The graph's operators; "" where nothing was drawn."""
    random_float_graphs.EXTENTS = EXTENTS
    d = random_float_graphs.drawn(seed)
    ends = random_float_graphs.ends_of(d)
    if not ends:
        return ""
    onnx.save(onnx.shape_inference.infer_shapes(random_float_graphs.model(d, ends)), file)
    return " ".join(node.op_type for node in d.nodes)


def halved(file: Path) -> bool:
    """Make the graph one of float16; whether it can be one, with nothing in it that says another type."""
    model = onnx.load(file)
    graph = model.graph
    for value in (*graph.input, *graph.output):
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
    for constant in graph.initializer:
        if constant.data_type == TensorProto.FLOAT:
            constant.CopyFrom(
                numpy_helper.from_array(numpy_helper.to_array(constant).astype(np.float16), constant.name)
            )
    del graph.value_info[:]
    try:
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        onnx.checker.check_model(model)
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError):
        return False
    onnx.save(model, file)
    return True


def outcome(file: Path, target: str, options: Options, near: str, size: int) -> tuple[str, str]:
    """What became of a graph in so much scratchpad, or in as much as it is said to need; and what is wrong."""
    for _ in range(MOST_SIZES + 1):
        try:
            wrong = run_of(file, target, "twin", replace(options, memory={**options.memory, near: size}), 1).wrong
            return ("wrong", ", ".join(wrong)) if wrong else ("right", "")
        except TilewrightError as error:
            named = re.search(rf"--memory {near}=(\d+)", " ".join(error.fix))
            if error.exit_code is Exit.DOES_NOT_FIT and named and int(named[1]) > size:
                size = int(named[1])
                continue
            if error.exit_code is Exit.DOES_NOT_FIT:
                return "does not fit", ""
            if error.exit_code in REFUSED:
                return f"refused, {error.code}", ""
            return "failed", f"{near}={size}: {error}"
    return "failed", f"not even {near}={size} does, which a refusal named"


def counted(parser: argparse.ArgumentParser, outcomes: Outcomes) -> Counter[str]:
    """How many graphs there were of what, after a line for each of which something is wrong."""
    parser.add_argument("--target", default="siracusa")
    parser.add_argument("--seeds", default="0:100", help="FIRST:END")
    parser.add_argument("--half", action="store_true", help="graphs of float16")
    asked, options = machine_options(parser)
    warnings.simplefilter("ignore")
    near = load_for(target=asked.target).platforms[asked.target].near
    found: Counter[str] = Counter()
    first, end = map(int, asked.seeds.split(":"))
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, end):
            file, size = Path(folder) / f"graph{seed}.onnx", random.Random(seed).choice(SIZES)
            operators = written(seed, file)
            if asked.half and operators and not halved(file):
                continue
            here = replace(options, memory={**options.memory, near: size} if near else options.memory)
            for what, why in outcomes(file, asked, here, near) if operators else ():
                found[what] += 1
                if why:
                    print(f"seed {seed}, {operators}: {what}: {why}", flush=True)
    print(dict(found))
    return found


def main() -> int:
    """How many are not right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    found = counted(
        parser, lambda file, asked, options, near: [outcome(file, asked.target, options, near, options.memory[near])]
    )
    return found["wrong"] + found["failed"]


if __name__ == "__main__":
    sys.exit(min(main(), 100))
