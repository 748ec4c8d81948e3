"""Knows how to put many nodes that have nothing to do with each other into one graph, to compile and run them at once.
Does not know any operator, nor any target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.comparison.verdicts import StepVerdict, judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.graphs.graph import Graph, Node, Site, Tensor
from tilewright.ir.programs.runner import Job, Runner, RunResult
from tilewright.plugins import Registry

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """A graph, and a value for each of its inputs. Node I is named `nI_OP`."""

    graph: Graph
    feeds: Mapping[str, Array]

    def deployment(self, target: str, options: Options | None = None, registry: Registry | None = None) -> Deployment:
        """The graph on a target, as if it had been read from a model."""
        plan = Deployment(b"", target, options, registry)
        plan._given[Graph] = self.graph
        return plan

    def run(self, plan: Deployment, runner: Runner, folder: Path, *, trace: bool, sanitize: bool = False) -> RunResult:
        """Execute what `deployment` made, once."""
        job = Job(
            artifact=plan.artifact,
            plan=plan.allocated,
            prefix=plan.prefix,
            input_sets=(self.feeds,),
            trace=trace,
            sanitize=sanitize,
        )
        return runner.run(job, folder)

    def judge(self, plan: Deployment, result: RunResult) -> tuple[StepVerdict, ...]:
        """Every step of a traced run against its reference."""
        executed = [step.name for step in plan.scheduled.steps]
        graph = plan.scheduled.bound.graph
        return judge_steps(graph, executed, plan.registry.operators, (self.feeds,), result.values)


def side_by_side(cases: Sequence[tuple[Site, Sequence[Array | None]]]) -> SideBySide:
    """Each case is a site and its inputs; those that are not the site's constants become inputs of the graph."""
    tensors: dict[str, Tensor] = {}
    nodes: list[Node] = []
    constants: dict[str, Array] = {}
    feeds: dict[str, Array] = {}
    for index, (alone, arrays) in enumerate(cases):
        site = _renamed(alone, f"n{index}_")
        tensors |= {tensor.name: tensor for tensor in (*site.inputs, *site.outputs) if tensor}
        constants |= site.constants
        nodes.append(site.node)
        values = {name: array for name, array in zip(site.node.inputs, arrays, strict=True) if array is not None}
        feeds |= {name: array for name, array in values.items() if name not in site.constants}
    graph = Graph(
        name="many",
        tensors=tensors,
        nodes=tuple(nodes),
        constants=constants,
        inputs=tuple(feeds),
        outputs=tuple(name for node in nodes for name in node.outputs),
    )
    return SideBySide(graph=graph, feeds=feeds)


def _renamed(site: Site, prefix: str) -> Site:
    def named(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name and prefix + name for name in names)

    def moved(node: Node, name: str) -> Node:
        return replace(node, name=prefix + name, inputs=named(node.inputs), outputs=named(node.outputs))

    links = [
        replace(
            link, node=moved(link.node, link.node.name), output=replace(link.output, name=prefix + link.output.name)
        )
        for link in site.node.links
    ]
    return replace(
        site,
        node=replace(moved(site.node, site.node.op.replace("+", "_")), links=tuple(links)),
        inputs=tuple(tensor and replace(tensor, name=prefix + tensor.name) for tensor in site.inputs),
        outputs=tuple(replace(tensor, name=prefix + tensor.name) for tensor in site.outputs),
        constants={prefix + name: array for name, array in site.constants.items()},
    )
