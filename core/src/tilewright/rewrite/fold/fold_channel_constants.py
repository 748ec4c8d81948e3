"""Knows the pass that puts arithmetic with constants of channels into weights: Add, Sub, Mul, Div, BatchNormalization,
behind or before a Conv, ConvTranspose, Gemm or MatMul, also where operators that only move or average stand between.
Does not keep float bits: weights are rounded once more, so results are equal inside the float error model only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.rewrite.edit import Draft, GraphView
from tilewright.rewrite.fold.channel_affine import AFFINES, ChannelAffine, Channels, before, behind, channel_affine
from tilewright.rewrite.fold.product_weights import Product

_MOST_READERS = 16  # products that one value may go into: more are not looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """The channels that a value's elements have in a product. `largest`: between the two only the largest are kept,
    which negative factors would change.
    """

    product: Product
    channels: Channels
    largest: bool

    def numbers(self, affine: ChannelAffine) -> tuple[np.ndarray, np.ndarray] | None:
        """Factor and shift for the product's channels; None where they differ inside one, or have the wrong sign."""
        if self.largest and not np.all(affine.factor > 0):
            return None
        return affine.for_channels(self.channels)


def _apply(graph: Graph, context: PassContext) -> PassResult:
    draft, view = Draft(graph=graph), GraphView.of(graph)
    products = {node.name: product for node in graph.nodes if (product := Product.of(view, node)) is not None}
    affines = {node.name: affine for node in graph.nodes if (affine := channel_affine(graph, node)) is not None}
    if products and affines:
        folded = _fold_behind(draft, view, products, affines)
        open_affines = {name: affine for name, affine in affines.items() if name not in folded}
        _fold_before(draft, view, products, open_affines)
    for product in products.values():
        if product.folded:
            for node in product.folded:
                draft.replace(node)
            draft.replace(product.node, product.finished(draft))
    return PassResult(graph=draft.finish())


def _fold_behind(
    draft: Draft, view: GraphView, products: dict[str, Product], affines: dict[str, ChannelAffine]
) -> set[str]:
    """Fold what is done to results of products, as far as nothing else reads them. Returns names of folded nodes."""
    graph, folded = view.graph, set[str]()
    places: dict[str, _Place] = {}  # by value that only the next node reads
    ways: dict[str, list[list[str]]] = {}  # by product: values behind it, those in a list equal by now
    for node in graph.nodes:
        product, value = products.get(node.name), node.outputs[0]
        source = node.inputs[0] if node.name not in affines else affines[node.name].source
        place = places.get(source) if source and view.read_once(source) else None
        if product is not None:
            places[value] = _Place(product=product, channels=product.output_channels(graph), largest=False)
            ways[node.name] = [[value]]
        elif place is not None and node.name in affines:
            numbers = place.numbers(affines[node.name])
            if numbers is not None and place.product.takes_behind(graph, *numbers):
                place.product.fold_behind(*numbers, node)
                folded.add(node.name)
                places[value] = place
                ways[place.product.node.name][-1].append(value)
        elif place is not None and (moved := behind(graph, node, place.channels)) is not None:
            largest = place.largest or node.op == "MaxPool"
            places[value] = _Place(product=place.product, channels=moved, largest=largest)
            ways[place.product.node.name].append([value])
    for way in ways.values():
        draft.rename_way(way)
    return folded


def _renamed(draft: Draft, value: str) -> str:
    tensor = draft.graph.tensors[value]
    return draft.value(tensor.dtype, tensor.shape, f"{value}_folded")


def _fold_before(
    draft: Draft, view: GraphView, products: dict[str, Product], affines: dict[str, ChannelAffine]
) -> None:
    """Fold what is done to inputs of products, where all that reads the result are products that take it."""
    offers: dict[str, tuple[_Place, ...]] = {}  # by node: where its operand's channels are in products
    folded: set[str] = set()
    for node in reversed(view.graph.nodes):
        product, affine = products.get(node.name), affines.get(node.name)
        if product is not None:
            channels = product.input_channels(view.graph)
            offers[node.name] = (_Place(product=product, channels=channels, largest=False),)
            continue
        places = _places_of(view, node.outputs[0], offers)
        if affine is not None and places and _taken_by_all(view.graph, places, affine, node):
            folded.add(node.name)
            offers[node.name] = places
        elif affine is None and len(node.outputs) == 1:
            offers[node.name] = tuple(_moved_before(view.graph, node, places))
    _rename_before(draft, view.graph, affines, folded, offers)


def _places_of(view: GraphView, value: str, offers: dict[str, tuple[_Place, ...]]) -> tuple[_Place, ...]:
    """Where a value's channels are in all products that read it; empty where something else reads it."""
    readers = view.consumers[value]
    if value in view.outputs or not 0 < len(readers) <= _MOST_READERS:
        return ()
    result = [offers.get(reader.name, ()) if reader.inputs.index(value) == 0 else () for reader in readers]
    return tuple(place for places in result for place in places)[:_MOST_READERS] if all(result) else ()


def _taken_by_all(graph: Graph, places: tuple[_Place, ...], affine: ChannelAffine, node: Node) -> bool:
    numbers = [place.numbers(affine) for place in places]
    for place, each in zip(places, numbers, strict=True):
        if each is None or not place.product.takes_before(graph, *each):
            return False
    for place, each in zip(places, numbers, strict=True):
        if each is not None:
            place.product.fold_before(*each, node)
    return True


def _moved_before(graph: Graph, node: Node, places: tuple[_Place, ...]) -> Iterator[_Place]:
    moved = [before(graph, node, place.channels) for place in places]
    for place, channels in zip(places, moved, strict=True):
        if channels is None or None in moved:
            return
        yield _Place(product=place.product, channels=channels, largest=place.largest or node.op == "MaxPool")


def _rename_before(
    draft: Draft,
    graph: Graph,
    affines: dict[str, ChannelAffine],
    folded: set[str],
    offers: dict[str, tuple[_Place, ...]],
) -> None:
    """What was folded is its source; what moves it further holds other numbers, under other names."""
    changed: set[str] = set()
    for node in graph.nodes:
        value = node.outputs[0]
        if node.name in folded:
            changed.add(value)
            draft.renames[value] = affines[node.name].source
        elif node.inputs and node.inputs[0] in changed and node.name not in affines and offers.get(node.name):
            if any(place.product.node.name == node.name for place in offers[node.name]):
                continue
            changed.add(value)
            draft.renames[value] = _renamed(draft, value)


PASS = GraphPass(
    name="fold-channel-constants",
    summary="what is added to channels or multiplied with them becomes part of the weights before or behind it",
    apply=_apply,
    roots=AFFINES,
    after=("fold-constants", "fuse-matmul-add"),
    before=("lower-quantised", "fuse-activation"),
)
