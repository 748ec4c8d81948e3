"""Knows `--state OUT:IN`: outputs whose values are inputs of the next run, and what those inputs are at the beginning;
and the same by a model's own word. Does not know where they are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.config.options import Options
from tilewright.errors import TilewrightError, usage_error
from tilewright.errors.suggestions import did_you_mean
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.model_formats import KeptState
from tilewright.ir.plans.constant_copies import initial_name
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.ir.tensors.layout import Layout, row_major, same_bytes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

AUTO = "auto"  # what is recognised
FORM = "--state OUTPUT:INPUT     or --state OUTPUT:INPUT=0.5, or =FILE.npy, for another beginning than zero"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurrentState:
    """An input that has the value of `output` of the run before; `initial` in the first run."""

    input: str
    output: str
    initial: Array = field(compare=False)  # of the input's shape and type


def with_states(options: Options, kept: Sequence[KeptState]) -> Options:
    """The options with what the model keeps by itself, or `auto` has found in it, as flags would say it; flags about
    the same inputs overrule.
    """
    stated = tuple(text for text in options.states if text != AUTO)
    taken = [
        state for state in kept for text in stated if f":{state.input}=" in text or text.endswith(f":{state.input}")
    ]
    return replace(options, states=(*stated, *(_text(state) for state in kept if state not in taken)))


def _text(state: KeptState) -> str:
    return f"{state.output}:{state.input}"


def states_of(
    texts: Iterable[str], graph: Graph, folder: Path = Path(), kept: Iterable[KeptState] = ()
) -> tuple[RecurrentState, ...]:
    """What the flags mean for `graph`; files are looked for in `folder`. `kept`: of these flags, those that are the
    model's own, with what its inputs are at the beginning.

    Raises TilewrightError TW1114 (exit 2) for one that cannot be read, names tensors that the model does not have, or
    joins tensors of different shape or type.
    """
    begun = {_text(state): state.initial for state in kept if state.initial is not None}
    states = tuple(_begun(_state(text, graph, folder), begun.get(text), text) for text in texts)
    inputs = [state.input for state in states]
    for name in inputs:
        if inputs.count(name) > 1:
            raise _wrong(f"input '{name}' is given a value twice")
    return states


def state_io(texts: Iterable[str], graph: Graph) -> frozenset[str]:
    """The inputs and outputs that these flags keep as state."""
    return frozenset(name for pair in kept_pairs(texts, graph) for name in pair)


def kept_pairs(texts: Iterable[str], graph: Graph) -> tuple[tuple[str, str], ...]:
    """Output and input of each of these flags. TilewrightError TW1114 (exit 2) for one that cannot be read."""
    return tuple(_parts(text, graph)[:2] for text in texts if text != AUTO)


def states_of_plan(allocated: Allocated) -> tuple[RecurrentState, ...]:
    """The states that a finished plan keeps."""
    import numpy as np

    bound = allocated.tiled.scheduled.bound
    states = []
    for name, output in allocated.decisions.state.items():
        tensor = bound.graph.tensors[name]
        stored, layout = bound.constants.get(initial_name(name)), bound.layouts[name]
        zeros: Array = np.zeros(tensor.shape, tensor.dtype.numpy)
        initial = zeros if stored is None else stored.transpose(np.argsort(layout))
        states.append(RecurrentState(input=name, output=output, initial=initial))
    return tuple(states)


def initial_constants(states: Sequence[RecurrentState], layouts: Mapping[str, Layout]) -> dict[str, Array]:
    """The initial values that are not zeros, by name, as they are stored: their axes in the order of the layouts."""
    return {
        initial_name(state.input): state.initial.transpose(layouts[state.input]).copy()
        for state in states
        if any(state.initial.tobytes())
    }


def initial_states(states: Sequence[RecurrentState]) -> dict[str, Array]:
    """What a reference is given for the inputs that are state, before the first run."""
    return {state.input: state.initial for state in states}


def next_states(states: Sequence[RecurrentState], values: Mapping[str, Array]) -> dict[str, Array]:
    """The same before the next run, when the last one computed `values`."""
    return {state.input: values[state.output] for state in states}


def run_stream(
    frames: Iterable[Mapping[str, Array]],
    states: Sequence[RecurrentState],
    run: Callable[[Mapping[str, Array]], dict[str, Array]],
) -> tuple[list[dict[str, Array]], list[dict[str, Array]]]:
    """`run` (a graph's reference) frame after frame: what every frame was given, state included, and what came out."""
    inputs: list[dict[str, Array]] = []
    outputs: list[dict[str, Array]] = []
    states_now = initial_states(states)
    for frame in frames:
        inputs.append({**frame, **states_now})
        outputs.append(run(inputs[-1]))
        states_now = next_states(states, outputs[-1])
    return inputs, outputs


def demand_stored_for(states: Sequence[RecurrentState], bound: Bound) -> None:
    """What a saved state stores in an order of its own is state still: the application hands over and takes row-major
    tensors, and a state is read as it was written. TilewrightError TW1223 (exit 2).
    """
    graph, layouts, following = bound.graph, bound.layouts, {state.input: state.output for state in states}
    wanted = {name: row_major(len(graph.tensors[name].shape)) for name in (*graph.inputs, *graph.outputs)}
    wanted |= {output: layouts[output] for output in following.values()}
    wanted |= {name: layouts[output] for name, output in following.items()}
    for name, layout in wanted.items():
        if not same_bytes(graph.tensors[name].shape, layouts[name], layout):
            raise usage_error(
                "TW1223",
                f"the saved plan stores '{name}' as what is kept from run to run, and no flag keeps it so",
                fix=("give every --state and --slide of the command that saved it", "compile without --import-state"),
            )


def demand_kept(pinned: Mapping[str, str], states: Mapping[str, str]) -> None:
    """A file of decisions has no state (input -> output) but what `--state` keeps. TilewrightError TW1114 (exit 2)."""
    for name, output in pinned.items():
        if states.get(name) != output:
            raise usage_error(
                "TW1114",
                f"the pinned decisions have '{output}' as state for input '{name}', and no --state says so",
                fix=("remove it from the file: --state OUTPUT:INPUT is what keeps state",),
            )


def _state(text: str, graph: Graph, folder: Path) -> RecurrentState:
    output, name, initial = _parts(text, graph)
    written, read = graph.tensors[output], graph.tensors[name]
    if output == name or output in graph.inputs or output in graph.constants:
        raise _wrong(f"output '{output}' is never computed", text)
    if written.shape != read.shape or written.dtype is not read.dtype:
        raise _wrong(
            f"output '{output}' is {written.dtype.value}{list(written.shape)}, input '{name}' is "
            f"{read.dtype.value}{list(read.shape)}",
            text,
        )
    if not read.elements:
        raise _wrong(f"input '{name}' has no elements", text, fix="leave that --state out: there is nothing to keep")
    return RecurrentState(input=name, output=output, initial=_initial(initial, name, graph, folder, text))


def _begun(state: RecurrentState, initial: Array | None, text: str) -> RecurrentState:
    """The state with another beginning, if there is one."""
    if initial is None:
        return state
    if initial.shape != state.initial.shape or initial.dtype != state.initial.dtype:
        begins = f"its beginning is {initial.dtype}{list(initial.shape)}"
        raise _wrong(f"{begins}, input '{state.input}' is {state.initial.dtype}{list(state.initial.shape)}", text)
    return replace(state, initial=initial)


def _parts(text: str, graph: Graph) -> tuple[str, str, str]:
    """Output, input and beginning. Names of tensors may hold colons and equals signs: those that exist decide."""
    for pair, _, initial in ((text, "", ""), text.rpartition("=")):
        for at, letter in enumerate(pair):
            if letter == ":" and pair[:at] in graph.outputs and pair[at + 1 :] in graph.inputs:
                return pair[:at], pair[at + 1 :], initial
    pair = text.rpartition("=")[0] or text
    output, colon, name = pair.partition(":")
    if not colon or not output or not name:
        raise _wrong(f"'{text}' cannot be read")
    if output not in graph.outputs:
        raise _wrong(f"the model has no output '{output}'", text, _known(output, graph.outputs))
    raise _wrong(f"the model has no input '{name}'", text, _known(name, graph.inputs))


def _known(name: str, names: Sequence[str]) -> tuple[str, ...]:
    return (*did_you_mean(name, names), f"it has: {', '.join(names)}")


def _initial(text_of_value: str, name: str, graph: Graph, folder: Path, text: str) -> Array:
    import numpy as np

    tensor = graph.tensors[name]
    if not text_of_value:
        return np.zeros(tensor.shape, tensor.dtype.numpy)
    if text_of_value.endswith(".npy"):
        return _read(folder / text_of_value, name, graph, text)
    try:
        value = float(text_of_value)
        filled = np.full(tensor.shape, value).astype(tensor.dtype.numpy)
    except (ValueError, OverflowError):
        raise _wrong(f"'{text_of_value}' is no number and no .npy file", text) from None
    if not tensor.dtype.is_float and not np.array_equal(filled.astype(np.float64), np.full(tensor.shape, value)):
        raise _wrong(f"input '{name}' is {tensor.dtype.value} and cannot be {text_of_value}", text)
    return filled


def _read(file: Path, name: str, graph: Graph, text: str) -> Array:
    import numpy as np

    tensor = graph.tensors[name]
    try:
        array: Array = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _wrong(f"cannot read '{file}': {str(error).splitlines()[0]}", text) from None
    if array.shape != tensor.shape or array.dtype != tensor.dtype.numpy:
        raise _wrong(
            f"'{file}' is {array.dtype}{list(array.shape)}, input '{name}' is {tensor.dtype.numpy}{list(tensor.shape)}",
            text,
        )
    return np.ascontiguousarray(array)


def _wrong(
    reason: str, text: str = "", details: tuple[str, ...] = (), fix: str = f"write it as {FORM}"
) -> TilewrightError:
    where = f"--state {text}" if text else ""
    return usage_error("TW1114", f"the state cannot be kept: {reason}", where=where, details=details, fix=(fix,))
