"""Knows the distinct layers of a network: nodes that differ in nothing but names, and what one kernel says of them.
Does not know which kernel computes a node (`bind`). Everything is worked out once for each distinct layer and kernel.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from tilewright.ir.access.index_map import Access, Box, parse_map
from tilewright.ir.graphs.graph import Link, Site, Tensor
from tilewright.ir.graphs.operator import OperandSource, Operator, input_names
from tilewright.ir.machines.kernel import Kernel, Matched, PartialSums, TileShape
from tilewright.ir.plans.tile_packing import TilePacking
from tilewright.ir.plugin_contract import demand_array, demand_mapping, demand_pairs, wrong_answer
from tilewright.ir.tensors.layout import Layout

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

Answer = TypeVar("Answer", bound=Mapping[str, Any])


@dataclass(frozen=True, eq=False, kw_only=True)
class Layer:
    """A distinct layer as one kernel computes it. `site` is the first node that is this layer."""

    operator: Operator
    kernel: Kernel
    site: Matched

    def at(self, site: Site) -> Matched:
        """Another node that is this layer, with the same analysis."""
        return Matched.of(site, self.site.analysis)

    def sources(self, site: Site) -> tuple[OperandSource, ...]:
        """The kernel's input operands at `site`, tensors first. A kernel that packs any constant packs all it needs."""
        names = site.node.inputs
        tensors = tuple(OperandSource(operand=operand, tensor=names[index]) for operand, index in self._tensors)
        return (*tensors, *(OperandSource(operand=operand, tensor="") for operand in self._declared))

    @cached_property
    def _tensors(self) -> tuple[tuple[str, int], ...]:
        """The operands that are no packed constants, and which input each is."""
        operands = enumerate(zip(input_names(self.operator, self.site), self.site.inputs, strict=True))
        return tuple(
            (operand, index)
            for index, (operand, tensor) in operands
            if tensor is not None and not (self._declared and tensor.name in self.site.constants)
        )

    @cached_property
    def packed(self) -> Mapping[str, Array]:
        """See `Kernel.pack`, and `Kernel.pack_tile` of all in one tile. TilewrightError TW8062 for what is no array, or
        none of a type that C has.
        """
        return self._declared if self.kernel.pack_tile is None else self.packed_for([self.whole.box])

    def packed_for(self, boxes: Sequence[Box]) -> Mapping[str, Array]:
        """The same where these are the tiles, the largest first."""
        return self.packed if self.kernel.pack_tile is None else self._tile_packing.of(boxes)

    def unpackable(self, shared: Sequence[str]) -> str:
        """Why constants cannot be packed for tiles; "" where they can, or are not. `shared`: loops that cores share."""
        return "" if self.kernel.pack_tile is None else self._tile_packing.refusal(shared)

    @property
    def _tile_packing(self) -> TilePacking:
        return TilePacking(kernel=self.kernel, site=self.site, access=self.access, packed=self._declared)

    @cached_property
    def _declared(self) -> Mapping[str, Array]:
        answer = self._mapping("pack", self.kernel.pack)
        for operand, array in answer.items():
            demand_array(array, f"kernel '{self.kernel.name}'", self.kernel.pack, f"pack of '{operand}'")
        return answer

    @cached_property
    def access(self) -> Access:
        """The kernel's own access over its packed operands, or the operator's where it has none."""
        if self.kernel.access is None:
            return self.operator.access(self.site)
        if not isinstance(self.kernel.access, str):
            return self.kernel.access(self.site)
        return parse_map(self.kernel.access).bind(self._shapes, self.kernel.attributes(self.site))

    @property
    def constants(self) -> tuple[str, ...]:
        """The operands that are constants."""
        sources = self.sources(self.site)
        return tuple(item.operand for item in sources if not item.tensor or item.tensor in self.site.constants)

    @property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """By operand, outputs first."""
        outputs = zip(self.operator.outputs, self.site.outputs, strict=False)
        types = {tensor.name: tensor.shape for tensor in self.site.inputs if tensor is not None}
        inputs = {
            source.operand: types[source.tensor] if source.tensor else tuple(self._declared[source.operand].shape)
            for source in self.sources(self.site)
        }
        return {**{operand: tensor.shape for operand, tensor in outputs}, **inputs}

    @cached_property
    def required(self) -> Mapping[str, Layout]:
        """See `Kernel.requires`."""
        return self._mapping("requires", self.kernel.requires)

    @cached_property
    def preferred(self) -> Mapping[str, Layout]:
        """See `Kernel.prefers`."""
        return self._mapping("prefers", self.kernel.prefers)

    @cached_property
    def stays(self) -> tuple[str, ...]:
        """See `Kernel.stays`."""
        return self.kernel.stays(self.site)

    @cached_property
    def sums(self) -> PartialSums | None:
        """See `Kernel.accumulates`."""
        return self.kernel.accumulates(self.site)

    @cached_property
    def in_place(self) -> tuple[tuple[str, str], ...]:
        """See `Kernel.in_place`."""
        return self._pairs("in_place", self.kernel.in_place)

    @cached_property
    def shifts(self) -> tuple[tuple[str, str], ...]:
        """See `Kernel.shifts`."""
        return self._pairs("shifts", self.kernel.shifts)

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """See `Kernel.describe`."""
        return self._mapping("describe", self.kernel.describe)

    def _pairs(
        self, name: str, function: Callable[[Matched], tuple[tuple[str, str], ...]]
    ) -> tuple[tuple[str, str], ...]:
        offered = function(self.site)
        if not offered and isinstance(offered, tuple):
            return offered
        inputs = dict.fromkeys((*self.operator.inputs, *input_names(self.operator, self.site)))
        return demand_pairs(offered, inputs, self.operator.outputs, f"kernel '{self.kernel.name}'", function, name)

    def _mapping(self, name: str, function: Callable[[Matched], Answer]) -> Answer:
        return demand_mapping(function(self.site), f"kernel '{self.kernel.name}'", function, name)

    @cached_property
    def whole(self) -> TileShape:
        """All of it in one tile."""
        return self.tile({loop.name: (0, loop.extent) for loop in self.access.loops})

    def tile(self, box: Box) -> TileShape:
        """A box of its loops."""
        return TileShape(site=self.site, access=self.access, box=box)


@dataclass(frozen=True, eq=False, kw_only=True)
class Layers:
    """What is known of distinct layers; it grows as nodes are asked about, and every answer stays what it was."""

    operators: Mapping[str, Operator]
    known: dict[Hashable, Layer | str] = field(default_factory=dict, repr=False)

    def of(self, kernel: Kernel, site: Site, key: Hashable) -> Layer | str:
        """The layer that `kernel` makes of `site`, or the kernel's refusal. `key` is `layer_key(site)`."""
        mine = (kernel.name, key)
        if mine not in self.known:
            self.known[mine] = matched(self.operators[site.node.op], kernel, site)
        return self.known[mine]


def matched(operator: Operator, kernel: Kernel, site: Site) -> Layer | str:
    """Ask `kernel` for `site`: the layer, or the refusal."""
    match = kernel.match(site)
    if match is False:  # meant as a refusal, and it would accept
        raise wrong_answer(f"kernel '{kernel.name}'", kernel.match, "match", match, "a sentence that refuses, or None")
    return match if isinstance(match, str) else Layer(operator=operator, kernel=kernel, site=Matched.of(site, match))


def layer_of(operator: Operator, kernel: Kernel, site: Site) -> Layer:
    """The layer that `kernel` makes of `site`. ValueError with its refusal."""
    layer = matched(operator, kernel, site)
    if isinstance(layer, str):
        raise ValueError(f"{kernel.name} refuses {site.node.name}: {layer}")
    return layer


def layer_key(site: Site) -> Hashable:
    """Equal for nodes that are the same layer: same operator, attributes, shapes, types and constants.

    Names count for nothing, except that inputs which are the same value are so in both.
    """
    names = [tensor.name if tensor else "" for tensor in site.inputs]
    return (
        site.node.op,
        repr(site.node.attributes),
        tuple(_link_key(link) for link in site.node.links),
        tuple(map(_type, site.inputs)),
        tuple(map(names.index, names)),
        tuple(map(_type, site.outputs)),
        tuple(_digest(site.constants[name]) if name in site.constants else b"" for name in names),
    )


def _link_key(link: Link) -> Hashable:
    """Which inputs its own are follows from the positions of the chain's."""
    return repr(link.node.attributes), _type(link.output)


def _type(tensor: Tensor | None) -> Hashable:
    return (tensor.dtype, tensor.shape, tensor.quantization) if tensor else None


def _digest(array: Array) -> bytes:
    return hashlib.sha256(array.tobytes()).digest()
