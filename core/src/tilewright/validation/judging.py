"""Knows the two sides that are judged: what tilewright computes for a model, by the references that every target must
equal, and what somebody else does. Does not know how the other side was asked, nor who is right (`judgement`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.comparison.judgement import Sides, Verdict, judge
from tilewright.comparison.reference import run
from tilewright.comparison.vectors import VectorSet, has_inputs, random_vectors, read_outputs, read_vectors
from tilewright.errors import usage_error

if TYPE_CHECKING:
    import numpy.typing as npt

    from tilewright.deployment import Deployment
    from tilewright.ir.graphs.graph import Tensor

    Array = npt.NDArray[Any]

Frames = Sequence[Mapping[str, "Array"]]  # of each set of inputs, by name


def judge_runtime(
    deployment: Deployment, vectors: Path | None, sets: int, ask: Callable[[Frames], Frames]
) -> tuple[Verdict, int]:
    """tilewright against what `ask` gives for the same inputs: those of a file, or random ones. And how many sets."""
    tensors, operators = _inputs(deployment), deployment.registry.operators
    runtime = (
        read_vectors(vectors, tensors, {}, operators)
        if vectors
        else random_vectors(tensors, sets, deployment.options.seed, deployment.imported.graph)
    )
    frames = _windows(deployment, runtime)
    return _judged(deployment, frames, ask(frames)), len(frames)


def judge_file(deployment: Deployment, file: Path, vectors: Path | None) -> tuple[Verdict, int]:
    """tilewright against the values of a file, which has the inputs, too, or else `vectors` does. And how many sets."""
    if has_inputs(file) == (vectors is not None):
        raise usage_error(
            "TW6001",
            "the inputs are given twice" if vectors else "the inputs are missing",
            where=str(file),
            fix=("leave out --io" if vectors else "add them as setK/in/TENSOR, or name their file with --io",),
        )
    operators, values = deployment.registry.operators, _values(deployment)
    frames = _windows(deployment, read_vectors(vectors or file, _inputs(deployment), {}, operators))
    return _judged(deployment, frames, read_outputs(file, len(frames), values, operators)), len(frames)


def _inputs(deployment: Deployment) -> dict[str, Tensor]:
    """What a call is given."""
    slid, graph = deployment.slid, deployment.imported.graph
    return {name: (slid.graph if slid else graph).tensors[name] for name in graph.inputs}


def _windows(deployment: Deployment, sets: Sequence[VectorSet]) -> list[Mapping[str, Array]]:
    """What the whole network is given: of a stream, the window of each call."""
    frames = [item.inputs for item in sets]
    return list(deployment.slid.windows(frames)) if deployment.slid else frames


def _values(deployment: Deployment) -> dict[str, Tensor]:
    """Every value that a node of the imported graph computes."""
    graph = deployment.imported.graph
    return {name: graph.tensors[name] for node in graph.nodes for name in node.outputs}


def _judged(deployment: Deployment, frames: Frames, theirs: Frames) -> Verdict:
    imported, compiled = deployment.imported.graph, deployment.rewritten.graph
    operators = deployment.registry.operators
    ours = [run(compiled, frame, operators) for frame in frames]
    sides = Sides(imported=imported, compiled=compiled, inputs=frames, ours=ours, theirs=theirs)
    return judge(sides, operators)
