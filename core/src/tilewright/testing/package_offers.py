"""Knows what the package of a target offers for it: kernels, passes, and what a compilation needs.
Does not know how any of it is tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import GraphPass, Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Platform
from tilewright.plugins import Registry
from tilewright.plugins.kinds import CORE
from tilewright.plugins.loading import load_for
from tilewright.testing.random_networks import random_network

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Offered:
    """A target as its user meets it, and what of that is no part of the core."""

    platform: Platform
    registry: Registry

    @property
    def package(self) -> str:
        """Name and version of the one that the target is of."""
        return self.owner("platform", self.platform.name)

    def owner(self, kind: str, name: str) -> str:
        """Name and version of the package that a kernel, a graph pass or something else is of."""
        owner = self.registry.provenance[kind, name]
        return f"{owner.distribution} {owner.version}"

    @property
    def operators(self) -> Mapping[str, Operator]:
        """Of the core and of packages."""
        return self.registry.operators

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Those for the target and its engines, of whatever package, and portable ones of the target's own package."""
        own, engines = (
            self._own("kernel", self.registry.kernels),
            {"", *(engine.name for engine in self.platform.engines)},
        )
        owners = self.registry.provenance
        package = owners["platform", self.platform.name].distribution
        return tuple(
            each
            for name, each in own.items()
            if self.platform.runs(each.target) and each.engine in engines
            if each.target != "*" or owners["kernel", name].distribution == package
        )

    @property
    def graph_passes(self) -> tuple[GraphPass, ...]:
        """Those of the packages that the target and its kernels are from."""
        owners = self.registry.provenance
        packages = {owners["kernel", kernel.name].distribution for kernel in self.kernels}
        packages.add(owners["platform", self.platform.name].distribution)
        own = self._own("graph_pass", self.registry.graph_passes)
        return tuple(each for name, each in own.items() if owners["graph_pass", name].distribution in packages)

    def _own(self, kind: str, values: Mapping[str, Value]) -> dict[str, Value]:
        owners = self.registry.provenance
        return {name: value for name, value in values.items() if owners[kind, name].distribution != CORE}

    def with_runner(self, name: str) -> Registry:
        """What a compilation needs that is run on this runner. TilewrightError (exit 8) where there is none."""
        return load_for(target=self.platform.name, runner=name, exporters=Options().emit)

    def compiled_files(self, kind: str, seed: int) -> Mapping[str, bytes]:
        """What a random network of `KINDS` becomes, everything asked anew."""
        network = random_network(kind, seed, self.operators)
        plan = Deployment(b"", self.platform.name, Options(name="network"), self.with_runner(""))
        plan._given[Graph] = network.graph
        return plan.artifact.files


@cache
def offered_by(target: str) -> Offered:
    """TilewrightError (exit 8) where the target is not installed, or its package is broken."""
    registry = load_for(target=target, exporters=Options().emit)
    return Offered(platform=registry.platforms[target].configure({}), registry=registry)
