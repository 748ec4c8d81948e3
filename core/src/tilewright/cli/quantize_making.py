"""Knows the way from a float network to a quantised one, and what is said of it on the way. Does not know the flags,
nor how good the result is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.cli.log_display import working
from tilewright.cli.output import progress

if TYPE_CHECKING:
    from tilewright.cli.quantize_within import Place
    from tilewright.errors import Diagnostic
    from tilewright.quantize.samples import Samples
    from tilewright.quantize.static import Recipe
    from tilewright.quantize.template import Template
    from tilewright.report.plain_text import Part

PREPARED = "float.onnx"  # beside the network as it was given
SEARCHED = 32  # samples that decide bits; all of them judge what is found


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A quantised network, the float one that it was made of, and what is said of its bits."""

    file: Path
    prepared: Path
    notes: tuple[Diagnostic, ...] = ()
    lines: tuple[Part, ...] = ()
    json: Mapping[str, Any] = field(default_factory=dict)


def make(whole: Path, recipe: Recipe, place: Place | None, samples: Samples, judged: Samples) -> Made:
    """The quantised network, in the folder of the float one."""
    from tilewright.cli.quantize_bits import uniform_bits
    from tilewright.quantize.static import prepare, quantise
    from tilewright.quantize.template import template

    prepared, quantised = whole.with_name(PREPARED), whole.with_name("int8.onnx")
    progress(f"finding ranges with {len(samples.inputs)} samples")
    with working("quantising: finding ranges"):
        prepare(whole, prepared, recipe.opset)
        quantise(prepared, quantised, samples.inputs, recipe)
    if not recipe.opset and place is None:
        return Made(file=quantised, prepared=prepared)
    network = template(prepared, quantised, samples.inputs)
    if place is not None:
        return _searched(whole, network, recipe, place, samples, judged)
    bits, notes = uniform_bits(network, recipe)
    quantised.write_bytes(network.written(bits))
    return Made(file=quantised, prepared=prepared, notes=notes)


def _searched(whole: Path, network: Template, recipe: Recipe, place: Place, samples: Samples, judged: Samples) -> Made:
    """The network with the bits that are best for each layer."""
    from tilewright.cli.quantize_bits import Search, chosen_json, chosen_lines, searched
    from tilewright.quantize.output_noise import reference

    reduced = replace(samples, inputs=samples.inputs[:SEARCHED], labels=samples.labels[:SEARCHED])
    search = Search(
        network=network,
        recipe=recipe,
        place=place,
        measured=reference(whole, reduced),
        judged=reference(whole, judged),
        folder=whole.parent,
    )
    with working("searching: what the bits of each layer are worth"):
        chosen = searched(search)
    return Made(
        file=search.file_of(chosen.found.bits),
        prepared=whole.with_name(PREPARED),
        lines=tuple(chosen_lines(chosen, network)),
        json=chosen_json(chosen, network),
    )
