"""Knows the front end as a whole: a model in, verified graph in normal form out.
Does not know targets; nothing here depends on where the network will run.

    read -> check functions -> inputs, constants -> walk the nodes -> outputs -> Graph
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.errors import Diagnostic, TilewrightError, unsupported_error
from tilewright.frontend.border import as_declared, with_quantization
from tilewright.frontend.decompositions import (
    composed,
    deformable,
    einsum,
    masks,
    places,
    quantised,
    runtime_operators,
    spectra,
)
from tilewright.frontend.nodes import legacy, structural
from tilewright.frontend.nodes.builder import GraphBuilder
from tilewright.frontend.nodes.conversion import ImportTable, NodeImporter
from tilewright.frontend.nodes.functions import check_functions
from tilewright.frontend.nodes.graph_inputs import (
    assumed_batch,
    bound_values,
    dims_of_weights,
    kept_weights,
    with_places_named,
)
from tilewright.frontend.nodes.model_walk import ModelWalk
from tilewright.frontend.nodes.scope import Scope
from tilewright.frontend.nodes.widening import widened
from tilewright.frontend.reading.constant_limits import check_initializers
from tilewright.frontend.reading.declarations import Declarations, input_tensors, symbols_of, with_fitting_dims
from tilewright.frontend.reading.dialects import translated
from tilewright.frontend.reading.external import ExternalFiles
from tilewright.frontend.reading.file_model import FileGraph, FileModel, FileValue
from tilewright.frontend.reading.formats import imported_model, said_of_the_file
from tilewright.frontend.reading.import_options import ImportOptions
from tilewright.frontend.reading.names import UniqueNames, show
from tilewright.frontend.reading.opsets import newer_form
from tilewright.frontend.reading.reader import file_model, model_in_errors
from tilewright.frontend.reading.refusals import refusal_error
from tilewright.frontend.reading.sorting import check_unique
from tilewright.frontend.reading.values import not_finite
from tilewright.ir.graphs.graph import Graph, Tensor
from tilewright.ir.graphs.model_formats import Dialect, Importer, KeptState
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.log_span import INFO, with_log_span

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_EXTENTS = (1, 2, 4, 8, 16, 32, 64, 96, 128, 224, 256)  # tried where an error says what can be typed
_MOST_TRIED = 2_000  # nodes of a file that is imported with several extents

_CORE = (  # signatures of no operator of their own
    structural, composed, deformable, einsum, masks, places, quantised, runtime_operators, spectra,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The graph in normal form, and the notes and warnings about its file."""

    graph: Graph
    diagnostics: tuple[Diagnostic, ...]
    opset: int  # of domain ai.onnx; 0 where the file does not use it
    onnx_nodes: int  # nodes of the file's graph
    bound: Mapping[str, Array] = field(default_factory=dict)  # inputs of the file that are constants
    arithmetic: str = "onnx"  # what the file means its integer layers to compute
    states: tuple[KeptState, ...] = ()  # that the file itself keeps from run to run


@with_log_span(INFO, "frontend: what the model means")
def load(
    source: Path | bytes,
    options: ImportOptions | None = None,
    operators: Mapping[str, Operator] | None = None,
    importers: Collection[Importer] = (),
    dialects: Collection[Dialect] = (),
) -> Imported:
    """Read a model and bring it into normal form.

    `operators` is the vocabulary, by name; their `imports` decide which ONNX nodes are taken. `importers` read files
    that are not ONNX, `dialects` say what ONNX files mean that are written in them. Raises TilewrightError: exit code 3
    for a file that breaks ONNX's rules or the limits, 4 with a list of every node that cannot be taken, 2 for a `--dim`
    that fits nothing.
    """
    chosen = options or ImportOptions()
    with model_in_errors(source):
        translated_model = translated(imported_model(source, chosen.reading, importers), dialects, chosen)
        file = source if isinstance(source, Path) else None
        with said_of_the_file(source, chosen.limits):
            model = file_model(translated_model.model, chosen.limits)
            check_initializers(model.graph, chosen.limits)
            result = _imported(model, file, chosen, operators or {})
        noted = (*translated_model.diagnostics, *result.diagnostics)
        graph, states = (
            as_declared(result.graph, translated_model.quantization),
            (*translated_model.states, *result.states),
        )
        return replace(result, graph=graph, states=states, arithmetic=translated_model.arithmetic, diagnostics=noted)


def import_table(operators: Mapping[str, Operator]) -> ImportTable:
    """Every signature that the front end knows: the vocabulary's and its own."""
    imports = (each for operator in operators.values() for each in operator.imports)
    known = (*imports, *(each for module in _CORE for each in module.IMPORTS))
    return ImportTable.of(known, structural.CONSTANT_ONLY, legacy.IMPORTS)


def _imported(
    model: FileModel, file: Path | None, options: ImportOptions, operators: Mapping[str, Operator]
) -> Imported:
    check_functions(model, options.limits)
    graph, dims = with_places_named(model.graph, options.dims)
    model, options = replace(model, graph=graph), replace(options, dims={**dims_of_weights(graph), **dims})
    batch = assumed_batch(_fed(graph), options.dims)
    if batch is None:
        return _with_known_dims(model, file, options, operators)
    try:
        taken = replace(options, dims={**options.dims, batch.symbol: 1})
        imported = _with_known_dims(model, file, taken, operators)
    except TilewrightError as error:
        raise batch.named_in(error) from error.__cause__
    return replace(imported, diagnostics=(batch.note, *imported.diagnostics))


def _with_known_dims(
    model: FileModel, file: Path | None, options: ImportOptions, operators: Mapping[str, Operator]
) -> Imported:
    """Import the model. Where dimensions are without a number, TW1205 names one that the model can be imported with."""
    missing = [symbol for symbol in symbols_of(_fed(model.graph)) if symbol not in options.dims]
    try:
        return _with_dims(model, file, options, operators)
    except TilewrightError as error:
        if error.code != "TW1205" or not missing or len(model.graph.nodes) > _MOST_TRIED:
            raise
        extents = (extent for extent in _EXTENTS if _fits(model, file, options, operators, missing, extent))
        raise with_fitting_dims(error, missing, next(extents, None)) from error.__cause__


def _fits(
    model: FileModel,
    file: Path | None,
    options: ImportOptions,
    operators: Mapping[str, Operator],
    missing: Iterable[str],
    extent: int,
) -> bool:
    try:
        _with_dims(model, file, replace(options, dims={**options.dims, **dict.fromkeys(missing, extent)}), operators)
    except TilewrightError:
        return False
    return True


def _fed(graph: FileGraph) -> list[FileValue]:
    """The inputs without constants. Before IR 4 an input with an initialiser of its name is a constant."""
    constants = {tensor.name for tensor in graph.initializers}
    return [value for value in graph.inputs if value.name not in constants]


def _with_dims(
    model: FileModel, file: Path | None, options: ImportOptions, operators: Mapping[str, Operator]
) -> Imported:
    """Import the model; `options` has a number for every dimension whose number is known."""
    graph = model.graph
    values = [value.name for value in graph.inputs] + [tensor.name for tensor in graph.initializers]
    values.extend(name for node in graph.nodes for name in node.outputs)
    builder = GraphBuilder(
        operators, options.limits, UniqueNames(values), UniqueNames(node.name for node in graph.nodes)
    )
    table = import_table(operators)
    files = ExternalFiles(model=file, allowed=options.allow_external, limits=options.limits)
    importer = NodeImporter(table, builder, files, options.limits)
    scope, inputs, bound, states = _start(graph, builder, importer, options)
    warnings = not_finite(builder.constants)
    declarations = Declarations(graph, options.dims, builder.tensors)
    walk = ModelWalk(model.functions, builder, importer, declarations.check, options.limits)
    walk.body(graph.nodes, scope, [value.name for value in graph.outputs])
    if walk.refused:
        raise refusal_error(walk.refused, walk.nodes)
    finished = builder.finish(graph.name, [tensor.name for tensor in inputs], _outputs(graph, scope))
    noticed = (*walk.diagnostics, *widened(importer.widened, importer.narrowed), *declarations.warnings())
    return Imported(
        graph=with_quantization(finished),
        diagnostics=(*newer_form(model.ir_version), *warnings, *noticed),
        opset=model.opsets.get("", 0),
        onnx_nodes=len(graph.nodes),
        bound=bound,
        states=states,
    )


def _start(
    graph: FileGraph, builder: GraphBuilder, importer: NodeImporter, options: ImportOptions
) -> tuple[Scope, tuple[Tensor, ...], dict[str, Array], tuple[KeptState, ...]]:
    """The scope with inputs and constants, the inputs that are left, the arrays of bound inputs, and the weights that
    `--state` keeps from run to run.
    """
    check_unique((value.name for value in graph.inputs), "input")
    check_unique((value.name for value in graph.outputs), "output")
    check_unique((tensor.name for tensor in graph.initializers), "initialiser")
    inputs = input_tensors(_fed(graph), options.dims, options.limits.tensor_bytes)
    bound = bound_values(inputs, options.bind)
    inputs = tuple(tensor for tensor in inputs if tensor.name not in bound)
    for tensor in inputs:
        builder.add_input(tensor)
    for name, array in bound.items():
        builder.add_constant(name, array)
    for initializer in graph.initializers:
        importer.load(initializer, initializer.name)
    names = (*(tensor.name for tensor in inputs), *bound, *sorted({tensor.name for tensor in graph.initializers}))
    for name in names:
        builder.names.claim(name)
    results = [value.name for value in graph.outputs]
    states = kept_weights(options.states, results, builder.constants, builder.tensors)
    inputs = (*inputs, *(builder.tensors[state.input] for state in states))
    return Scope(values={name: name for name in names}), inputs, bound, states


def _outputs(graph: FileGraph, scope: Scope) -> dict[str, str]:
    """Output -> the value it is: one that a node writes, or an initialiser."""
    outputs: dict[str, str] = {}
    written = {name for node in graph.nodes for name in node.outputs} | {tensor.name for tensor in graph.initializers}
    for value in graph.outputs:
        source = scope.find(value.name) if scope.has(value.name) else None
        if value.name not in written or source is None:
            reason = "is an input" if scope.has(value.name) else "is written by no node"
            raise unsupported_error(
                "TW2103",
                f"output {show(value.name)} {reason}; tilewright needs a node that computes it",
                where=f"output {show(value.name)}",
                fix=("remove that output, or add a node (Identity) that writes it",),
            )
        outputs[value.name] = source
    return outputs
