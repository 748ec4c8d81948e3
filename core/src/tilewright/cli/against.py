"""Knows `validate --against`: the flag, whom it may name, what is compared with another runtime, and how that is said.
Does not know how runtimes compute.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.cli.option import option
from tilewright.errors import Exit, TilewrightError, typed, usage_error
from tilewright.report.drawing.labels import shortened
from tilewright.report.plain_text import Part, Table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tilewright.comparison.other_runtime import NodeAgreement
    from tilewright.comparison.vectors import VectorSet
    from tilewright.deployment import Deployment
    from tilewright.ir.graphs.model_formats import FormatRuntime
    from tilewright.ir.programs.runner import RunResult

    Array = npt.NDArray[np.generic]

_SHOWN = 12  # nodes that differ


def against_flag(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--against`: whom to compare with, beside the reference."""
    return option(
        "--against",
        metavar="RUNTIME",
        default=None,
        help="Also compare with another runtime, node by node where the graph still has a value: onnxruntime, "
        "onnx-reference, or one that a package brings for the format of the file.",
    )(command)


def runtimes_of(deployment: Deployment) -> Mapping[str, FormatRuntime]:
    """Who else runs files of the model's format, by name: those that its importer knows."""
    from tilewright.frontend.reading.formats import importer_of
    from tilewright.frontend.reading.import_options import limits_with
    from tilewright.frontend.reading.reader import model_bytes

    model, importers = deployment.model, deployment.registry.importers.values()
    name = model.name if isinstance(model, Path) else ""
    importer = importer_of(model_bytes(model, limits_with(deployment.options.limits)), name, importers)
    return {runtime.name: runtime for runtime in importer.runtimes}


def demand_known(deployment: Deployment, runtime: str) -> None:
    """TW1101 (exit 2) where nobody of that name runs the model, TW7031 (exit 7) where he is not installed."""
    from tilewright.comparison.other_runtime import RUNTIMES, demand_module, demand_runtime
    from tilewright.errors.suggestions import did_you_mean

    if runtime in RUNTIMES:
        demand_runtime(runtime)
        return
    others = runtimes_of(deployment)
    if runtime in others:
        demand_module(runtime, others[runtime].package, others[runtime].module)
        return
    names = (*others, *RUNTIMES)
    raise usage_error(
        "TW1101",
        f"no runtime called '{runtime}' takes this model",
        where=f"--against {runtime}",
        fix=(*did_you_mean(runtime, names), f"write it as --against {' or '.join(names)}"),
    )


def other_values(
    deployment: Deployment, runtime: str, names: Collection[str], frames: Sequence[Mapping[str, Array]]
) -> list[dict[str, Array]]:
    """What `runtime` computes from these inputs: outputs, and the values among `names` that it keeps."""
    from tilewright.comparison.other_runtime import RUNTIMES, values_from, values_of_format
    from tilewright.frontend.reading.import_options import limits_with
    from tilewright.frontend.reading.reader import model_bytes
    from tilewright.ir.graphs.model_formats import Reading

    if runtime in RUNTIMES:
        return values_from(runtime, whole_model(deployment), names, frames)
    options = deployment.options
    reading = Reading(limits=limits_with(options.limits), network=options.network)
    other = runtimes_of(deployment)[runtime]
    return values_of_format(other, model_bytes(deployment.model, reading.limits), reading, frames)


def demand_comparable(deployment: Deployment, runtime: str | None) -> None:
    """TW7031 (exit 7) where the runtime is not installed. TW1101 where nobody of that name runs the model, and where
    inputs and outputs are handed over in other types or layouts than the model's, which nobody else knows.
    """
    options = deployment.options
    if runtime:
        demand_known(deployment, runtime)
    changed = {"--io-type": options.io_type != "float" or options.io_type_of, "--io-layout": options.io_layouts}
    flags = [flag for flag, is_set in changed.items() if is_set]
    if runtime and flags:
        raise usage_error(
            "TW1101",
            f"--against and {flags[0]} exclude each other: the other runtime has the inputs and outputs of the file",
            fix=(typed("--against", runtime, gives=f"without {flags[0]}"),),
        )


def compared(
    deployment: Deployment, vectors: Sequence[VectorSet], ran: RunResult, runtime: str
) -> tuple[NodeAgreement, ...]:
    """What was run, against what `runtime` computes from the same inputs and the same state."""
    from tilewright.comparison.other_runtime import agreements as node_agreements
    from tilewright.comparison.outputs import rounds

    ours = [{**_whole(values), **outputs} for values, outputs in zip(ran.values, ran.outputs, strict=True)]
    names = {name for values in ours for name in values}
    theirs = other_values(deployment, runtime, names, _frames(deployment, vectors, ours))
    _demand_same_forms(deployment.outputs, ours, theirs, runtime)
    return node_agreements(deployment.scheduled.bound.graph, ours, theirs, rounds=rounds(deployment.imported.graph))


def whole_model(deployment: Deployment) -> bytes:
    """The model with what it keeps beside it inside: whoever gets it reads no other file."""
    from tilewright.frontend.reading.external import embedded
    from tilewright.frontend.reading.import_options import ImportOptions, limits_with

    options = deployment.options
    limits = limits_with(options.limits)
    reading = ImportOptions(allow_external=options.allow_external, limits=limits, network=options.network)
    return embedded(deployment.model, reading, deployment.registry.importers.values())


def _demand_same_forms(
    outputs: Collection[str], ours: Sequence[Mapping[str, Array]], theirs: Sequence[Mapping[str, Array]], runtime: str
) -> None:
    """TW6004 (exit 6) where an output of the model has another type or shape there: nothing would be compared."""
    for mine, other in zip(ours, theirs, strict=True):
        for name in outputs:
            forms = [f"{values[name].dtype}{list(values[name].shape)}" for values in (mine, other) if name in values]
            if len(set(forms)) > 1:
                raise TilewrightError(
                    "TW6004",
                    f"{runtime} computes something else",
                    where=f"output '{name}'",
                    details=(f"it is {forms[0]} here, and {forms[1]} there",),
                    fix=("report it, with the model: one of the two is wrong",),
                    exit_code=Exit.MISMATCH,
                )


def _whole(values: Mapping[str, Array]) -> dict[str, Array]:
    """Without those of which nobody reads all rows, so that some were not computed."""
    import numpy as np

    return {name: array for name, array in values.items() if not isinstance(array, np.ma.MaskedArray)}


def _frames(
    deployment: Deployment, vectors: Sequence[VectorSet], ours: Sequence[Mapping[str, Array]]
) -> list[dict[str, Array]]:
    """The inputs of each set, of a window that slides the whole of it; state is what the run before has left."""
    from tilewright.config.recurrent_state import initial_states

    own_frames = [item.inputs for item in vectors]
    windows = deployment.slid.windows(own_frames) if deployment.slid else own_frames
    states = [state for state in deployment.states if state.input in deployment.imported.graph.inputs]
    frames = [{**deployment.imported.bound, **initial_states(states), **window} for window in windows]
    for frame, before in zip(frames[1:], ours, strict=False):
        frame.update({state.input: before[state.output] for state in states if state.output in before})
    return frames


def lines(agreements: Sequence[NodeAgreement], runtime: str) -> Iterator[Part]:
    """What is shown: the nodes that differ, and the first one that is suspicious."""
    from tilewright.comparison.other_runtime import first_suspicious

    different = [agreement for agreement in agreements if agreement.drift.verdict.different]
    yield f"against {runtime}: {len(agreements) - len(different)} of {len(agreements)} values that both have are equal"
    rows = [("node", "elements", "different", "largest difference")]
    for agreement in different[:_SHOWN]:
        verdict = agreement.drift.verdict
        numbers = (f"{verdict.elements:,}", f"{verdict.different:,}", f"{verdict.max_difference:g}")
        rows.append((shortened(agreement.node, 36), *numbers))
    if different:
        yield Table(rows=rows, right=(1, 2, 3))
    if len(different) > _SHOWN:
        yield f"and {len(different) - _SHOWN} more (--json has all)"
    suspect = first_suspicious(agreements)
    if suspect:
        yield f"the first suspicious node is '{suspect.node}' ({suspect.op})"


def as_json(agreements: Sequence[NodeAgreement], runtime: str) -> dict[str, Any]:
    """The same with every number."""
    from tilewright.comparison.other_runtime import first_suspicious

    suspect = first_suspicious(agreements)
    nodes = [
        {
            "node": agreement.node,
            "op": agreement.op,
            "value": asdict(agreement.drift.verdict),
            "share_of_spread": agreement.drift.share,
            "within": agreement.drift.within,
        }
        for agreement in agreements
    ]
    return {
        "runtime": runtime,
        "agrees": not _wrong(agreements),
        "first_suspicious": suspect.node if suspect else "",
        "nodes": nodes,
    }


def _wrong(agreements: Sequence[NodeAgreement]) -> list[NodeAgreement]:
    """The outputs of the model that are too far away."""
    return [agreement for agreement in agreements if agreement.output and not agreement.drift.within]


def demand_agreement(agreements: Sequence[NodeAgreement], runtime: str, model: str) -> None:
    """TW6004 (exit 6) where an output of the model is further from the other's than roundings may take it."""
    from tilewright.comparison.other_runtime import first_suspicious

    wrong = _wrong(agreements)
    suspect = first_suspicious(agreements)
    if not wrong or not suspect:
        return
    verdict = wrong[0].drift.verdict
    raise TilewrightError(
        "TW6004",
        f"{runtime} computes something else",
        where=f"node '{suspect.node}' ({suspect.op})",
        details=(
            f"output '{verdict.name}': {verdict.different:,} of {verdict.elements:,} elements differ, by "
            f"{verdict.max_difference:g} at most; the node above is the first that is suspicious",
        ),
        fix=(typed("tilewright", "judge", model, "--against", runtime, gives="says which of the two is right"),),
        exit_code=Exit.MISMATCH,
    )
