"""Knows what a model becomes before it is bound: who reads it, imported, rewritten, and called with what is new of a
window. Does not know plans, nor who observes these stages.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.config.graph_io import TYPES, border_types, bound_inputs, channels_last
from tilewright.config.options import Options
from tilewright.config.recognised_state import kept_automatically, recognition_note
from tilewright.config.recurrent_state import states_of, with_states
from tilewright.config.sliding import sliding_of
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.use_order import in_order_of_use
from tilewright.ir.machines.platform import Platform
from tilewright.plugins.kinds import announced_names
from tilewright.plugins.registry import Registry

if TYPE_CHECKING:
    from tilewright.frontend.load import Imported
    from tilewright.ir.graphs.model_formats import KeptState
    from tilewright.rewrite import Rewritten
    from tilewright.rewrite.slide.slide import Slid


def importers_for(model: Path | bytes, options: Options) -> tuple[tuple[str, str], ...]:
    """Who may read the model, each by kind and name: dialects where it is ONNX or cannot be read, else importers."""
    from tilewright.frontend.reading.formats import may_be_onnx
    from tilewright.frontend.reading.import_options import limits_with

    kind = "dialect" if may_be_onnx(model, limits_with(options.limits)) else "importer"
    return tuple((kind, name) for name in announced_names(kind))


def is_for_another(model: Path | bytes, options: Options, registry: Registry) -> bool:
    """Whether an importer reads it that is not ONNX's."""
    from tilewright.frontend.reading.formats import is_onnx
    from tilewright.frontend.reading.import_options import limits_with

    importers = registry.importers.values()
    return bool(importers) and not is_onnx(model, limits_with(options.limits), importers)


def imported_with(model: Path | bytes, options: Options, registry: Registry) -> Imported:
    """What the model means, in normal form, with the inputs and outputs that are asked for."""
    from tilewright.frontend.border import with_integer_border
    from tilewright.frontend.border_layout import with_channels_last
    from tilewright.frontend.load import load
    from tilewright.frontend.reading.import_options import ImportOptions, limits_with

    bind, limits = bound_inputs(options), limits_with(options.limits)
    reading = ImportOptions(
        dims=options.dims,
        bind=bind,
        allow_external=options.allow_external,
        limits=limits,
        network=options.network,
        states=tuple(options.states),
        io_type=TYPES.get(options.io_type),
        io_type_of={name: TYPES[word] for name, word in options.io_type_of.items() if word in TYPES},
    )
    result = load(model, reading, registry.operators, registry.importers.values(), registry.dialects.values())
    states = (*result.states, *kept_automatically(result.graph, result.states, options.states))
    noted = (*result.diagnostics, *recognition_note(result.graph, result.states, options.states))
    graph = with_integer_border(result.graph, border_types(result.graph, with_states(options, states)))
    graph = with_channels_last(graph, channels_last(graph, options))
    return replace(result, graph=graph, states=states, diagnostics=noted)


def rewritten_with(imported: Imported, options: Options, registry: Registry, platform: Platform | None) -> Rewritten:
    """After every graph pass. `platform` is None where a network is looked at without a target. TilewrightError TW1203
    where more steps are left than may be planned (`--limit steps=COUNT`).
    """
    from tilewright.config.arithmetics import arithmetic_choice
    from tilewright.frontend.reading.constant_limits import check_steps
    from tilewright.frontend.reading.import_options import limits_with
    from tilewright.rewrite import ARITHMETICS, rewrite

    arithmetic = arithmetic_choice(options, platform, ARITHMETICS, imported.arithmetic)
    passes = tuple(registry.graph_passes.values())
    owners = registry.owners("graph_pass")
    result = rewrite(in_order_of_use(imported.graph), registry.operators, passes, platform, arithmetic, owners)
    check_steps(result.graph, limits_with(options.limits))
    return result


def ordered_with(graph: Graph, options: Options, kept: tuple[KeptState, ...], platform: Platform) -> Graph:
    """In the order of use. Without tiles kernels move state on where it is: there it is as they need it."""
    from tilewright.rewrite.shift_states import with_shifted_states

    if platform.inner:
        return in_order_of_use(graph)
    states = states_of(with_states(options, kept).states, graph, options.states_folder, kept)
    return in_order_of_use(with_shifted_states(graph, {state.input: state.output for state in states}))


def slid_with(graph: Graph, options: Options, registry: Registry) -> Slid:
    """The network that is called with what is new of a window, as `--slide` asks for it."""
    from tilewright.rewrite.slide.slide import slid

    sliding, operators = sliding_of(options.slide, graph), registry.operators
    return slid(graph, operators, sliding.input, sliding.axis, sliding.hop)
