"""Random float graphs in little scratchpad: every step of every graph on the twin of a machine with several cores.

The graphs are those of `drawing.py` with longer axes, operands without elements among them. The scratchpad has one of a
few sizes; where that is too small, the size that the refusal names, which must do. With --half they are of float16.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from fuzzing.drawing import drawn, ends_of, model
from fuzzing.frame import Fuzz, Outcome, machine_flags, machine_options
from fuzzing.networks import run_of
from tilewright.config.options import Options
from tilewright.errors import Exit, TilewrightError
from tilewright.plugins import load_for

EXTENTS = (1, 3, 8, 13, 29)
SIZES = (1500, 3000, 6000, 12000, 24000)
REFUSED = (Exit.UNSUPPORTED, Exit.MODEL)
MOST_SIZES = 2  # that a refusal names, one after the other


def written(seed: int, file: Path) -> str:
    """The graph's operators; "" where nothing was drawn."""
    d = drawn(seed, EXTENTS)
    ends = ends_of(d)
    if not ends:
        return ""
    onnx.save(onnx.shape_inference.infer_shapes(model(d, ends)), file)
    return " ".join(node.op_type for node in d.nodes)


def halved(file: Path) -> bool:
    """Make the graph one of float16; whether it can be one, with nothing in it that says another type."""
    made = onnx.load(file)
    graph = made.graph
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
        made = onnx.shape_inference.infer_shapes(made, strict_mode=True)
        onnx.checker.check_model(made)
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError):
        return False
    onnx.save(made, file)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """One of these graphs, and in how much scratchpad it is to run."""

    seed: int
    file: Path
    target: str
    options: Options
    near: str  # the scratchpad; "" on machines without


Judge = Callable[[Graph, argparse.Namespace], Iterable[tuple[str, str]]]  # how something ended, and what is wrong


def flags(parser: argparse.ArgumentParser) -> None:
    """Of everything that is tried with these graphs."""
    machine_flags(parser, "siracusa")
    parser.add_argument("--half", action="store_true", help="graphs of float16")


def each_graph(judge: Judge, seeds: Sequence[int], arguments: argparse.Namespace, folder: Path) -> Iterator[Outcome]:
    """What a judge says of the graphs of some seeds."""
    options, near = machine_options(arguments), load_for(target=arguments.target).platforms[arguments.target].inner
    for seed in seeds:
        file, size = folder / f"graph{seed}.onnx", random.Random(seed).choice(SIZES)
        operators = written(seed, file)
        if not operators or (arguments.half and not halved(file)):
            continue
        here = replace(options, memory={**options.memory, near: size} if near else options.memory)
        graph = Graph(seed=seed, file=file, target=arguments.target, options=here, near=near)
        for ended, wrong in judge(graph, arguments):
            yield Outcome(f"seed {seed}, {operators}", ended, wrong)


def outcomes(seeds: Sequence[int], arguments: argparse.Namespace, folder: Path) -> Iterator[Outcome]:
    """What became of the graphs on the twin."""

    def judge(graph: Graph, _: argparse.Namespace) -> Iterable[tuple[str, str]]:
        near = graph.near
        return [outcome(graph.file, graph.target, graph.options, near, graph.options.memory[near])]

    return each_graph(judge, seeds, arguments, folder)


FUZZ = Fuzz(about=__doc__ or "", outcomes=outcomes, flags=flags)
