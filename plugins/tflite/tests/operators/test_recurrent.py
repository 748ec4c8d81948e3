"""SVDF and LSTM, frame after frame, against loops; their state is the file's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flat_models import G, Op, T, constant, file_of

from tilewright.errors import TilewrightError

RANDOM = np.random.default_rng(5)
FEATURES, TIMES = RANDOM.normal(size=(4, 3)).astype(np.float32), RANDOM.normal(size=(4, 5)).astype(np.float32)
BIAS = np.float32([0.5, -0.25])


def svdf(**changes: Any) -> bytes:
    """Two units of rank 2, over five frames of three features."""
    tensors = [
        T(name="x", type="float32", shape=(1, 3)),
        constant(FEATURES, "features"),
        constant(TIMES, "times"),
        constant(BIAS, "bias"),
        T(name="memory", type="float32", shape=(1, 20), variable=changes.get("variable", True)),
        T(name="y", type="float32", shape=(1, 2)),
    ]
    options = {0: ("<i", changes.get("rank", 2)), 1: ("<b", 1)}
    op = Op(code="SVDF", inputs=range(5), outputs=(5,), options=options, kind=6)
    return file_of(G(tensors=tensors, ops=[op], inputs=(0,), outputs=(5,)))


def test_svdf(run_frames: Callable[..., list[dict[str, Any]]]) -> None:
    frames = [{"x": RANDOM.normal(size=(1, 3)).astype(np.float32)} for _ in range(7)]
    memory = np.zeros((4, 5))
    for frame, values in zip(frames, run_frames(svdf(), frames), strict=True):
        memory = np.concatenate([memory[:, 1:], (FEATURES @ frame["x"][0])[:, None]], 1)
        wanted = np.maximum((memory * TIMES).sum(1).reshape(2, 2).sum(1) + BIAS, 0)
        assert np.allclose(values["y"][0], wanted, atol=1e-5)


def test_integers_of_a_state_begin_with_those_that_stand_for_0(read_in: Callable[[bytes], Any]) -> None:
    tensors = [
        T(name="x", shape=(1, 3), scale=(0.5,), zero=(1,)),
        constant(np.int8(np.ones((2, 3))), scale=(0.1,), zero=(0,)),
        constant(np.int8(np.ones((2, 2))), scale=(0.1,), zero=(0,)),
        constant(np.zeros(2, np.int32)),
        T(name="memory", shape=(1, 4), scale=(0.5,), zero=(7,), variable=True),
        T(name="y", shape=(1, 2), scale=(0.5,), zero=(0,)),
    ]
    op = Op(code="SVDF", inputs=range(5), outputs=(5,), options={0: ("<i", 1)}, kind=6)
    (state,) = read_in(file_of(G(tensors=tensors, ops=[op], inputs=(0,), outputs=(5,)))).states
    assert (state.input, state.output) == ("memory", "memory_next") and state.initial.tolist() == [[7] * 4]


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"variable": False}, "its state 'memory' is no variable"), ({"rank": 3}, "its rank is 3")],
)
def test_what_is_no_svdf_is_refused(changes: dict[str, Any], said: str, read_in: Callable[[bytes], Any]) -> None:
    with pytest.raises(TilewrightError) as caught:
        read_in(svdf(**changes))
    assert said in caught.value.details[0]


WEIGHTS = [RANDOM.normal(size=shape).astype(np.float32) * 0.5 for shape in [(2, 3)] * 4 + [(2, 2)] * 4]
BIASES = [RANDOM.normal(size=2).astype(np.float32) for _ in range(4)]


def lstm(*, time_major: bool = False, activation: int = 4, cell_clip: float = 0.0, peephole: bool = False) -> bytes:
    """Two cells over four steps of three features."""
    shape = (4, 1, 3) if time_major else (1, 4, 3)
    tensors = [T(name="x", type="float32", shape=shape), *(constant(each) for each in (*WEIGHTS, *BIASES))]
    tensors += [T(name=name, type="float32", shape=(1, 2), variable=True) for name in ("hidden", "cell")]
    tensors.append(T(name="y", type="float32", shape=(*shape[:2], 2)))
    inputs = [0, *range(1, 9), *([9] if peephole else [-1]), -1, -1, *range(9, 13), -1, -1, 13, 14, -1, -1, -1, -1]
    options = {0: ("<b", activation), 1: ("<f", cell_clip), 3: ("<B", int(time_major))}
    op = Op(code="UNIDIRECTIONAL_SEQUENCE_LSTM", inputs=inputs, outputs=(15,), options=options, kind=71)
    return file_of(G(tensors=tensors, ops=[op], inputs=(0,), outputs=(15,)))


@pytest.mark.parametrize(("time_major", "clip"), [(False, 0.0), (True, 0.0), (False, 0.125)])
def test_lstm(time_major: bool, clip: float, run_frames: Callable[..., list[dict[str, Any]]]) -> None:
    def sigmoid(values: Any) -> Any:
        return 1 / (1 + np.exp(-values))

    steps = RANDOM.normal(size=(8, 3)).astype(np.float32)
    halves = [steps[:4, None] if time_major else steps[None, :4], steps[4:, None] if time_major else steps[None, 4:]]
    frames = run_frames(lstm(time_major=time_major, cell_clip=clip), [{"x": half} for half in halves])
    got = np.concatenate([frame["y"].reshape(4, 2) for frame in frames])  # the state goes on from frame to frame
    hidden, cell = np.zeros(2), np.zeros(2)
    for x, y in zip(steps, got, strict=True):
        i, f, c, o = (WEIGHTS[gate] @ x + WEIGHTS[gate + 4] @ hidden + BIASES[gate] for gate in range(4))
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(c)
        cell = np.clip(cell, -clip, clip) if clip else cell
        hidden = sigmoid(o) * np.tanh(cell)
        assert np.allclose(y, hidden, atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"activation": 1}, "its activation"),
        ({"peephole": True}, "it has peepholes"),
    ],
)
def test_what_no_lstm_here_has_is_refused(changes: dict[str, Any], said: str, read_in: Callable[[bytes], Any]) -> None:
    with pytest.raises(TilewrightError) as caught:
        read_in(lstm(**changes))
    assert said in caught.value.details[0]


SHARED = Path(__file__).resolve().parents[4].parent / "shared" / "models" / "tflite"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared models are not there")
def test_a_trained_lstm_is_that_of_tflite_micro(as_arithmetic: Callable[[bytes], Any]) -> None:
    """Integers only, and every output of every set is equal, the state carried."""
    file = SHARED / "trained_lstm_int8.tflite"
    graph, run = as_arithmetic(file.read_bytes())
    assert not {node.op for node in graph.nodes} & {"DequantizeLinear", "QuantizeLinear", "LSTMSteps"}
    vectors, first, (result, *after) = np.load(f"{file.parent}/{file.stem}.io.npz"), graph.inputs[0], graph.outputs
    kept = {name: np.zeros(graph.tensors[name].shape, graph.tensors[name].dtype.numpy) for name in graph.inputs[1:]}
    for k in range(3):
        values = run({first: vectors[f"{k}/in/0"], **kept})
        assert np.array_equal(values[result], vectors[f"{k}/out/0"])
        kept = {name: values[output] for name, output in zip(kept, after, strict=True)}


def integer_lstm(kind: str, clip: float, weight_zero: int = 0) -> tuple[bytes, dict[str, Any]]:
    """Two cells over four steps of three features, quantised; and what its integers are."""
    bias_kind = np.int32 if kind == "int8" else np.int64
    rng = np.random.default_rng(9)
    weights = [rng.integers(-127, 128, shape, np.int8) for shape in [(2, 3)] * 4 + [(2, 2)] * 4]
    biases = [rng.integers(-(2**20) - 1, 2**20, 2).astype(bias_kind) for _ in range(4)]
    zero = 5 if kind == "int8" else 0
    tensors = [T(name="x", type=kind, shape=(1, 4, 3), scale=(0.02,), zero=(zero,))]
    tensors += [constant(each, scale=(0.01 + 0.001 * at,), zero=(weight_zero,)) for at, each in enumerate(weights)]
    tensors += [constant(each) for each in biases]
    tensors.append(T(name="hidden", type=kind, shape=(1, 2), scale=(1 / 128,), zero=(-zero,), variable=True))
    tensors.append(T(name="cell", type="int16", shape=(1, 2), scale=(2.0**-11,), zero=(0,), variable=True))
    tensors.append(T(name="y", type=kind, shape=(1, 4, 2), scale=(1 / 128,), zero=(-zero,)))
    inputs = [0, *range(1, 9), -1, -1, -1, *range(9, 13), -1, -1, 13, 14, -1, -1, -1, -1]
    options = {0: ("<b", 4), 1: ("<f", clip), 3: ("<B", 0)}
    op = Op(code="UNIDIRECTIONAL_SEQUENCE_LSTM", inputs=inputs, outputs=(15,), options=options, kind=71)
    onnx = [0, 3, 1, 2]  # i o f c, of i f c o
    rows = np.concatenate([weights[at] for at in onnx])
    bias = np.concatenate([biases[at] for at in onnx]) - zero * rows.astype(np.int64).sum(1)
    scales = [np.float32(0.02) * np.float32(0.01 + 0.001 * at) for at in onnx]
    known = {"rows": rows, "bias": bias, "scales": tuple(4096 * float(scale) for scale in scales)}
    return file_of(G(tensors=tensors, ops=[op], inputs=(0,), outputs=(15,))), known


@pytest.mark.parametrize("kind", ["int8", "int16"])
@pytest.mark.parametrize(("clip", "limit"), [(0.0, 0), (10.0, 20480), (100.0, 32767)])
def test_an_lstm_of_integers_is_one_step_of_them(
    kind: str, clip: float, limit: int, rewritten: Callable[[bytes], Any]
) -> None:
    data, known = integer_lstm(kind, clip)
    graph = rewritten(data)
    (node,) = (node for node in graph.nodes if node.op not in ("Transpose", "Reshape"))
    assert node.op == "QLSTM" and node.integer("cell_limit") == limit and node.integer("cell_power") == -11
    assert np.array_equal(graph.constants[node.inputs[1]], known["rows"])
    assert np.array_equal(graph.constants[node.inputs[3]], known["bias"])
    assert node.attributes["given_scales"] == known["scales"]


def test_weights_with_a_zero_point_stay_in_floats(rewritten: Callable[[bytes], Any]) -> None:
    assert "LSTMSteps" in {node.op for node in rewritten(integer_lstm("int8", 0.0, weight_zero=1)[0]).nodes}
