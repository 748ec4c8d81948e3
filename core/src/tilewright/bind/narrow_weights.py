"""Knows what is said of weights that a model file has in 4 or 2 bits: which steps keep them so, and which do not.
Does not know how they are packed, nor why a kernel was chosen (`constant_growth`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.errors import Diagnostic
from tilewright.ir.plans.layer import Layer

_WEIGHTS = 1  # which input of a node with the attribute they are


def narrow_notes(bound: Mapping[str, Layer]) -> Iterator[Diagnostic]:
    """The notes TW5064, of steps that keep narrow weights packed, and TW5065, of those that make bytes of them."""
    kept, widened = dict[str, Layer](), dict[str, Layer]()
    for name, layer in bound.items():
        bits = layer.site.node.weight_bits
        if bits < 8:
            (kept if bits in layer.kernel.weight_bits else widened)[name] = layer
    if kept:
        bits_of = sorted({layer.site.node.weight_bits for layer in kept.values()})
        yield _note(
            "TW5064",
            f"{_steps(kept)} weights of {' and '.join(map(str, bits_of))} bits packed: {_bytes(kept):,} B of constants "
            f"with their scales, for {_weights(kept):,} weights",
        )
    if widened:
        yield _note(
            "TW5065",
            f"{_steps(widened)} {_weights(widened):,} narrow weights in bytes: {', '.join(sorted(widened)[:4])}"
            f"{', ...' if len(widened) > 4 else ''}",
        )


def _note(code: str, message: str) -> Diagnostic:
    return Diagnostic(code=code, severity="note", message=message)


def _steps(layers: Mapping[str, Layer]) -> str:
    return "1 step keeps" if len(layers) == 1 else f"{len(layers)} steps keep"


def _bytes(layers: Mapping[str, Layer]) -> int:
    """Of equal layers once."""
    return sum(array.nbytes for layer in dict.fromkeys(layers.values()) for array in layer.packed.values())


def _weights(layers: Mapping[str, Layer]) -> int:
    return sum(layer.site.input(_WEIGHTS).elements for layer in dict.fromkeys(layers.values()))
