"""Knows how `tilewright quantize` comes to the bits of each layer, alike or searched for; what it says of them, and
what where nothing fits. Does not know how a network is written or planned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.cli.output import progress
from tilewright.cli.quantize_within import Place, Plans
from tilewright.errors import Diagnostic, TilewrightError, memory_error, typed
from tilewright.ir.short_names import short_names
from tilewright.report.plain_text import Part, Table

if TYPE_CHECKING:
    from tilewright.quantize.bits import Bits
    from tilewright.quantize.output_noise import Reference
    from tilewright.quantize.search import Path as Steps
    from tilewright.quantize.search import Room, Taken, Tried, Worth
    from tilewright.quantize.static import Recipe
    from tilewright.quantize.template import Template

_SHOWN = 12  # choices of which it is said what they are worth
_NAMED = 6
_SMALLER = "make the network smaller: fewer channels, smaller images"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is searched with: the network, where it is to run, the samples that decide, and those that judge."""

    network: Template
    recipe: Recipe
    place: Place
    measured: Reference
    judged: Reference
    folder: Path
    written: dict[Bits, Path] = field(default_factory=dict)

    def file_of(self, bits: Bits) -> Path:
        """The network with these bits."""
        if bits not in self.written:
            file = self.folder / f"bits_{len(self.written)}.onnx"
            file.write_bytes(self.network.written(bits))
            self.written[bits] = file
        return self.written[bits]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What was found, beside networks whose layers are all alike, and what every choice was worth."""

    found: Tried
    rivals: tuple[Tried, ...]
    worths: tuple[Worth, ...]


def uniform_bits(network: Template, recipe: Recipe) -> tuple[Bits, tuple[Diagnostic, ...]]:
    """The bits of a recipe in which no layer differs; a note TW3040 on values that keep 8 all the same."""
    from tilewright.quantize.integer_form import all_bits, in_integers

    chosen_bits = all_bits(network, wide=recipe.activations == "int16", narrow=recipe.weights == "4")
    bits = in_integers(network, chosen_bits, float_layers)
    kept = [choice.name for choice in network.choices if choice.name in chosen_bits.wide - bits.wide]
    return bits, (_kept(kept),) if kept else ()


def float_layers(model: bytes) -> frozenset[str]:
    """The nodes of a quantised network that are computed in float when it is compiled, but for its border."""
    from tilewright.config.options import Options
    from tilewright.ir.tensors.dtypes import DType
    from tilewright.network import imported_with, rewritten_with
    from tilewright.plugins.loading import load_packs

    options, registry = Options(), load_packs()
    graph = rewritten_with(imported_with(model, options, registry), options, registry, None).graph
    return frozenset(
        origin
        for node in graph.nodes
        if node.op not in ("QuantizeLinear", "DequantizeLinear")
        and any(graph.tensors[name].dtype is DType.F32 for name in node.outputs if name)
        for origin in (node.name, *node.origin)
    )


def searched(search: Search) -> Chosen:
    """The best that fits, or where nothing is said of room, the smallest that loses no more than it may.
    TilewrightError (exit 5): TW1420 where none fits whose layers are alike, TW1421 where the best loses too much.
    """
    from tilewright.quantize import search as found

    room, plans = search.place.room, Plans(place=search.place, file_of=search.file_of)
    request = found.Asked(
        taken=plans.taken, noise=lambda bits: search.measured.noise(search.file_of(bits)), heard=_Heard().heard
    )
    alike = dict(_alike(*_limits(search)))
    fitting = [bits for bits in alike.values() if room.fits(plans.taken(bits))]
    if not fitting:
        raise _nothing_fits(room, min((plans.taken(bits) for bits in alike.values()), key=room.excess))
    most = list(alike.values())[-1]
    path = found.search(search.network.choices, fitting[0], most, room, request)
    bits = _smallest(search, path) if search.place.drop is not None else path.end

    def tried(name: str, bits: Bits) -> found.Tried:
        return found.Tried(name=name, bits=bits, taken=plans.taken(bits), noise=request.noise(bits))

    rivals = [tried(name, each) for name, each in alike.items()]
    best = tried("chosen", bits)
    if search.place.drop is None:
        best = min(
            [best, *(rival for rival in rivals if room.fits(rival.taken))], key=lambda candidate: candidate.noise
        )
    return Chosen(found=replace(best, name="chosen"), rivals=tuple(rivals), worths=path.worths)


def _limits(search: Search) -> tuple[Bits, Bits]:
    """The fewest bits and the most, without those with which a layer is computed in float."""
    from tilewright.quantize.bits import Bits
    from tilewright.quantize.integer_form import all_bits, border, in_integers

    recipe, network = search.recipe, search.network
    bits = all_bits(network, wide=recipe.activations in ("int16", "mixed"), narrow=recipe.weights in ("4", "mixed"))
    ends, io_type = border(network), search.place.io_type
    if io_type in ("int8", "uint8"):
        bits = replace(bits, wide=bits.wide - ends)
    widest = in_integers(network, replace(bits, narrow=frozenset()), float_layers).wide
    least = widest if recipe.activations == "int16" else widest & ends if io_type == "int16" else frozenset()
    return (
        Bits(wide=least, narrow=bits.narrow),
        Bits(wide=widest, narrow=frozenset() if recipe.weights == "mixed" else bits.narrow),
    )


def _alike(fewest: Bits, most: Bits) -> Iterator[tuple[str, Bits]]:
    """Networks whose layers are all alike, between the fewest and the most bits, with names."""
    from tilewright.quantize.bits import Bits

    for words in dict.fromkeys((fewest.wide, most.wide)):
        for narrow in dict.fromkeys((fewest.narrow, most.narrow)):
            values, weights = 16 if words else 8, 4 if narrow else 8
            yield f"all values {values}, weights {weights}", Bits(wide=words, narrow=narrow)


def _smallest(search: Search, path: Steps) -> Bits:
    from tilewright.quantize.search import shortest

    drop = search.place.drop or 0.0
    bits = shortest(path, lambda bits: search.judged.drop(search.file_of(bits)) <= drop)
    limited = search.place.room != type(search.place.room)()
    if bits is None:
        raise _loses(search, search.judged.drop(search.file_of(path.end)), drop, limited)
    return path.end if limited else bits


def _nothing_fits(room: Room, nearest: Taken) -> TilewrightError:
    if nearest.reason:
        return memory_error(
            "TW1420",
            "no choice of bits fits",
            details=(f"there is no plan: {nearest.reason}",),
            fix=("plan for a target or board with more memory", _SMALLER),
        )
    pairs = [
        (name, getattr(room, name), getattr(nearest, name))
        for name in ("ram", "flash", "ms")
        if getattr(room, name) is not None
    ]
    over = [f"{name}: {_amount(name, used)}, of {_amount(name, limit)}" for name, limit, used in pairs if used > limit]
    enough = ",".join(f"{name}={_typed(name, max(limit, used))}" for name, limit, used in pairs)
    return memory_error(
        "TW1420",
        "no choice of bits fits",
        details=("what is nearest takes too much of", *over),
        fix=(
            typed("--within", enough, gives="has room for that one"),
            _SMALLER,
        ),
    )


def _loses(search: Search, lost: float, drop: float, limited: bool) -> TilewrightError:
    what = "of the samples' labels" if search.judged.samples.labels else "of the outputs, as the root of their noise"
    percent = math.ceil(lost * 10_000) / 100
    alone = "give --within more, or leave it out: --drop alone finds the smallest that loses no more"
    return memory_error(
        "TW1421",
        f"the best that fits loses {percent:g} % {what}, more than {100 * drop:g} %",
        fix=(typed("--drop", f"{percent:g}%", gives="takes it"), *((alone,) if limited else ())),
    )


def _kept(names: Sequence[str]) -> Diagnostic:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return Diagnostic(
        code="TW3040",
        severity="note",
        message=f"{len(names)} values keep 8 bits: a layer beside each has no integer form with 16",
        details=(f"{', '.join(names[:_NAMED])}{more}",),
    )


class _Heard:
    """Says how far the search is, at most ten times for each part of it."""

    def __init__(self) -> None:
        self._said = 0

    def heard(self, text: str) -> None:
        """Of every step; of few something is said."""
        part, _, rest = text.partition(": ")
        number, _, count = rest.partition(",")[0].partition(" of ")
        tenth = 10 * int(number) // int(count)
        if tenth != self._said:
            self._said = tenth
            progress(f"{part} bits: {rest}")


def chosen_lines(chosen: Chosen, network: Template) -> Iterator[Part]:
    """The networks that were tried, what each choice was worth, and what was chosen."""
    rows: list[tuple[str, ...]] = [("network", "RAM", "flash", "ms", "noise")]
    rows += [_row(rival) for rival in (*chosen.rivals, chosen.found)]
    yield Table(rows=rows, right=(1, 2, 3, 4))
    bits = chosen.found.bits
    worth = [("bits of", "layer", "bits", "noise with fewer", "price")]
    short = short_names(name for choice in network.choices for name in (choice.name, choice.layer))
    for each in chosen.worths[:_SHOWN]:
        choice = each.choice
        price = "-" if each.price == math.inf else f"{100 * each.price:.1f} %"
        layer = short[choice.layer] if choice.layer else "input"
        worth.append((short[choice.name], layer, str(bits.of(choice)), f"{each.noise:.2g}", price))
    if chosen.worths:
        yield Table(rows=worth, right=(2, 3, 4))
    if len(chosen.worths) > _SHOWN:
        yield f"and {len(chosen.worths) - _SHOWN} more"


def chosen_json(chosen: Chosen, network: Template) -> dict[str, Any]:
    """The same for a program."""
    return {
        "bits": {choice.name: chosen.found.bits.of(choice) for choice in network.choices},
        "tried": [
            {
                "name": rival.name,
                "ram_bytes": rival.taken.ram,
                "flash_bytes": rival.taken.flash,
                "milliseconds": rival.taken.ms or None,
                "noise": rival.noise,
            }
            for rival in (*chosen.rivals, chosen.found)
        ],
    }


def _row(rival: Tried) -> tuple[str, ...]:
    taken = rival.taken
    if taken.reason:
        return rival.name, "no plan", "-", "-", f"{rival.noise:.2g}"
    ms = f"{taken.ms:.3g}" if taken.ms else "-"
    return rival.name, f"{taken.ram:,} B", f"{taken.flash:,} B", ms, f"{rival.noise:.2g}"


def _amount(name: str, value: float) -> str:
    return f"{value:.3g} ms" if name == "ms" else f"{value:,.0f} B"


def _typed(name: str, value: float) -> str:
    return f"{math.ceil(value * 100) / 100:g}" if name == "ms" else f"{value:.0f}"
