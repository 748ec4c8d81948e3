"""Knows which outputs of a network seem to be inputs of its next run, by what the graph does with them and by their
names: caches that are shifted, hidden states of recurrences. Does not know whether anybody wants them kept.

A pair has one shape and type. Of several that could be, the evidence of the graph goes before that of names; an input
and an output are in one pair, and where evidence leaves two, names decide, or none is taken.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tilewright.config.recurrent_state import AUTO
from tilewright.errors import Diagnostic, usage_error
from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.model_formats import KeptState

_MOVES = frozenset({"Cast", "Concat", "DequantizeLinear", "QuantizeLinear", "Reshape", "Slice", "Transpose"})
_FIRST_STATE = 5  # the input of a recurrence that its hidden state is before the first step; then LSTM's cell state
_RECURRENCES = {"GRUSteps": 1, "LSTMSteps": 2, "RNNSteps": 1}  # how many states
_TURNS = frozenset({"in", "input", "new", "next", "old", "out", "output", "past", "present", "prev", "previous"})
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_SHORT = re.compile(r"([hc])[n0t]?", re.IGNORECASE)  # h0 and hn


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognisedState:
    """An output that seems to be the input of the next run, and what says so."""

    output: str
    input: str
    evidence: str

    @property
    def flag(self) -> str:
        """What keeps it."""
        return f"{self.output}:{self.input}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Walk:
    """What is reached from a value against the direction of moves: values, and those of them behind a Concat."""

    values: set[str] = field(default_factory=set)
    joined: set[str] = field(default_factory=set)


def recognised_states(graph: Graph) -> tuple[RecognisedState, ...]:
    """All pairs, in the order of the inputs."""
    states: list[RecognisedState] = []
    if len(graph.inputs) < 2 or len(graph.outputs) < 2:
        return ()  # one that is given and one that is handed out are no state
    writers = {name: node for node in graph.nodes for name in node.outputs}
    walks = {name: _walked(name, writers) for name in graph.outputs}
    evidences = (
        ("Concat and Slice shift it", lambda output, name: name in walks[output].joined),
        ("a recurrence begins and ends with it", lambda output, name: _recurs(walks[output], name, graph, writers)),
        ("their names", _named_alike),
    )
    for evidence, says in evidences:
        free = [name for name in graph.inputs if all(name != pair.input for pair in states)]
        outputs = [name for name in graph.outputs if all(name != pair.output for pair in states)]
        possible = [(output, name) for name in free for output in outputs if _fit(graph, output, name)]
        pairs = [(output, name) for output, name in possible if says(output, name)]
        states += [RecognisedState(output=out, input=name, evidence=evidence) for out, name in _single(pairs)]
    return tuple(sorted(states, key=lambda pair: graph.inputs.index(pair.input)))


def kept_automatically(graph: Graph, kept: Sequence[KeptState], texts: Sequence[str]) -> tuple[KeptState, ...]:
    """What `--state auto` keeps beside `kept`, and beside what other flags say. TilewrightError TW1440 (exit 2) where
    nothing is recognised.
    """
    if AUTO not in texts:
        return ()
    pairs = tuple(_unsaid(graph, kept, texts))
    if not pairs and not kept and set(texts) == {AUTO}:
        raise usage_error(
            "TW1440",
            "no output of the model is recognised as an input of its next run",
            where=f"--state {AUTO}",
            details=(f"inputs: {', '.join(graph.inputs)}", f"outputs: {', '.join(graph.outputs)}"),
            fix=("name the pairs: --state OUTPUT:INPUT", "or leave it out, if the model keeps nothing from run to run"),
        )
    return tuple(KeptState(output=pair.output, input=pair.input) for pair in pairs)


def recognition_note(graph: Graph, kept: Sequence[KeptState], texts: Sequence[str]) -> tuple[Diagnostic, ...]:
    """What is recognised and kept, or not kept, and the flags to type; nothing where there is nothing to say."""
    pairs = tuple(_unsaid(graph, kept, texts))
    if not pairs:
        return ()
    taken = AUTO in texts
    flags = shlex.join(word for pair in pairs for word in ("--state", pair.flag))
    details = tuple(f"'{pair.output}' becomes '{pair.input}': {pair.evidence}" for pair in pairs)
    which = "are kept from run to run" if taken else "seem to be inputs of the next run, and are not kept"
    again = f"the same as {flags}" if taken else f"{flags} keeps them; so does --state {AUTO}"
    message = f"of the outputs these {which}: {len(pairs)} of {len(graph.outputs)}"
    return (Diagnostic(code="TW4050", severity="note", message=message, details=(*details, again)),)


def _unsaid(graph: Graph, kept: Sequence[KeptState], texts: Sequence[str]) -> Iterator[RecognisedState]:
    """Pairs that neither the model's own word nor a flag is about."""
    ends = {name for state in kept for name in (state.input, state.output)}
    for pair in recognised_states(graph):
        said = any(text.startswith(f"{pair.output}:") or f":{pair.input}=" in f"{text}=" for text in texts)
        if not said and not ends & {pair.input, pair.output}:
            yield pair


def _fit(graph: Graph, output: str, name: str) -> bool:
    written, read = graph.tensors[output], graph.tensors[name]
    computed = output not in graph.inputs and output not in graph.constants
    return computed and written.shape == read.shape and written.dtype is read.dtype and read.elements > 0


def _walked(value: str, writers: dict[str, Node]) -> _Walk:
    walk, behind = _Walk(), [(value, False)]
    while behind:
        name, joined = behind.pop()
        seen = walk.joined if joined else walk.values
        if name in seen:
            continue
        walk.values.add(name)
        seen.add(name)
        node = writers.get(name)
        if node is not None and node.op in _MOVES:
            sources = node.inputs if node.op == "Concat" else node.inputs[:1]
            behind += [(source, joined or node.op == "Concat") for source in sources]
    return walk


def _recurs(walk: _Walk, name: str, graph: Graph, writers: dict[str, Node]) -> bool:
    """Whether the value comes from the last state of a recurrence whose first state comes from the input."""
    for node in graph.nodes:
        for at in range(_RECURRENCES.get(node.op, 0)):
            begins = node.inputs[_FIRST_STATE + at] if len(node.inputs) > _FIRST_STATE + at else ""
            if begins and node.outputs[at] in walk.values and name in _walked(begins, writers).values:
                return True
    return False


def _single(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs whose input and output are in no other; of those that are, the ones with like names."""
    named = [pair for pair in pairs if _named_alike(*pair)]
    ends = {name for pair in named for name in pair}
    left = [*named, *(pair for pair in pairs if not ends & set(pair))]
    return [pair for pair in left if sum(other[0] == pair[0] or other[1] == pair[1] for other in left) == 1]


def _named_alike(output: str, name: str) -> bool:
    """Whether the names are one but for words that say which run is meant: h0 and hn, cache_in and cache_out."""
    return _essence(output) == _essence(name) != ()


def _essence(name: str) -> tuple[str, ...]:
    short = _SHORT.fullmatch(name)
    if short:
        return (short[1].lower(),)
    return tuple(word for word in (text.lower() for text in _WORDS.findall(name)) if word not in _TURNS)
