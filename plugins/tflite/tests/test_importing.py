"""The importer as a whole: what it hands on, every refusal in one error, and files that a stranger has damaged."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flat_models import G, Op, T, branching_network, file_of, remembering_network, small_network, wide_network
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright.api.importer import Limits, Reading
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Quantization
from tilewright_tflite.importing import load, tensors_of

SHARED = Path(__file__).resolve().parents[3].parent / "shared" / "models" / "tflite"


SMALL = file_of(small_network())


def test_inputs_and_outputs_are_the_files_own(read_in: Callable[[bytes], Any]) -> None:
    found = read_in(SMALL)
    graph = found.graph
    assert (graph.inputs, graph.outputs) == (("image",), ("scores",))
    assert graph.tensors["scores"].quantization == Quantization(scale=(1 / 256,), zero_point=(-128,))
    assert graph.tensors["image"].shape == (1, 6, 6, 1) and graph.tensors["image"].quantization is not None
    assert (found.states, found.arithmetic, found.diagnostics) == ((), "tflm", ())
    origins = {name for node in graph.nodes for name in node.origin}
    assert {"CONV_2D_0", "MAX_POOL_2D_1", "FULLY_CONNECTED_3", "SOFTMAX_4"} <= origins


def test_an_output_that_is_an_input_has_a_name_of_its_own(compute: Callable[..., list[Any]]) -> None:
    tensors = [T(name=name, type="float32", shape=(1, 2)) for name in "xy"]
    data = file_of(G(tensors=tensors, ops=[Op(code="RELU", inputs=(0,), outputs=(1,))], inputs=(0,), outputs=(1, 0)))
    x = np.float32([[-1, 2]])
    y, same = compute(data, x)
    assert y.tolist() == [[0, 2]] and same.tolist() == x.tolist()
    assert list(tensors_of(data, Reading()).outputs) == ["y", "x:out"]


def test_all_of_it_is_integer_steps(rewritten: Callable[[bytes], Any]) -> None:
    ops = [node.op for node in rewritten(SMALL).nodes]
    assert [op for op in ops if op not in ("Reshape", "Transpose")] == ["QConv", "MaxPool", "QGemm", "QSoftmax"]


def test_every_operator_that_cannot_be_taken_is_named_at_once() -> None:
    ops = [
        Op(code="UNIQUE", inputs=(0,), outputs=(1,)),
        Op(code="RELU", inputs=(1,), outputs=(2,)),  # behind it: nothing is known
        Op(code="ADD", inputs=(0, 0), outputs=(3,), kind=11, options={}, version=99),
        Op(code="AcmeFft", inputs=(0,), outputs=(3,)),
        Op(code="AcmeFft", inputs=(0,), outputs=(3,)),
        Op(code=220, inputs=(0,), outputs=(3,)),
    ]
    tensors = [T(name=f"t{index}", type="float32", shape=(1, 2)) for index in range(4)]
    with pytest.raises(TilewrightError, match="5 of 6 operators cannot be imported") as caught:
        load(file_of(G(tensors=tensors, ops=ops, inputs=(0,), outputs=(3,))), Reading())
    assert (caught.value.code, caught.value.exit_code) == ("TW2101", Exit.UNSUPPORTED)
    assert caught.value.where == "operator 0 (UNIQUE)"
    assert caught.value.details == (
        "UNIQUE version 1, operator 0 ('t0' float32 1x2): no operator of this name is known",
        "ADD version 99, operator 2 ('t0' float32 1x2, 't0' float32 1x2): "
        "version 99 is newer than 9, the newest that is known",
        "AcmeFft version 1 x2, operator 3, 4 ('t0' float32 1x2): it is a custom operator",
        "BUILTIN_220 version 1, operator 5 ('t0' float32 1x2): no operator of this name is known",
    )


def test_many_kinds_are_counted() -> None:
    ops = [Op(code=f"Acme{index}", inputs=(0,), outputs=(0,)) for index in range(14)]
    with pytest.raises(TilewrightError) as caught:
        load(file_of(G(tensors=[T(name="a\nb\u202e")], ops=ops, inputs=(0,), outputs=(0,))), Reading())
    assert len(caught.value.details) == 13 and caught.value.details[-1] == "and 2 more kinds"
    assert "'a b '" in caught.value.details[0]


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"inputs": (10,)}, "TW2102", "input 'text' is string"),
        ({"outputs": (11,)}, "TW2103", "output 'nothing' cannot be taken"),
    ],
)
def test_ends_that_cannot_be_taken(change: dict[str, Any], code: str, said: str) -> None:
    graph = small_network()
    more = [T(name="text", type="string", shape=(1,)), T(name="nothing", shape=(1,))]
    with pytest.raises(TilewrightError, match=said) as caught:
        load(file_of(replace(graph, tensors=[*graph.tensors, *more], **change)), Reading())
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("limits", "said", "fix"),
    [
        (Limits(constant_bytes=40), "more bytes of constants", "--limit constants=1G"),
        (Limits(nodes=2), "more tables", "--limit nodes=1000000"),
        (Limits(initializers=4, nodes=1000), "more constants", "--limit initializers=1000000"),
        (Limits(name_length=5), "a name that is too long", "shorter names"),
    ],
)
def test_limits_have_their_code(limits: Limits, said: str, fix: str) -> None:
    with pytest.raises(TilewrightError, match=said) as caught:
        load(SMALL, Reading(limits=limits))
    assert caught.value.code == "TW1203" and fix in caught.value.fix[0]


@pytest.mark.parametrize(("kind", "codes"), [(np.int64, []), (np.int32, ["TW3011"])])
def test_a_bias_of_32_bits_beside_values_of_16_is_named(kind: type[Any], codes: list[str]) -> None:
    graph = wide_network()
    tensors = [*graph.tensors]
    tensors[2] = replace(tensors[2], type=np.dtype(kind).name, data=tensors[2].data.astype(kind))
    said = load(file_of(replace(graph, tensors=tensors)), Reading()).diagnostics
    assert [each.code for each in said] == codes and all("CONV_2D_0" in each.where for each in said)


def test_graphs_that_nothing_runs_are_named() -> None:
    (said,) = load(file_of(small_network(), replace(small_network(), ops=[])), Reading()).diagnostics
    assert said.code == "TW1241" and said.message.startswith("1 of the file's 2 graphs") and "graph 1" in said.where


def several() -> bytes:
    """Two networks, the second with a name as a signature has it."""
    form = {"type": "float32", "shape": (2,)}
    networks = [
        G(tensors=[T(name="x", **form), T(name=y, **form)], ops=[Op(code=code, inputs=(0,), outputs=(1,))],
          inputs=(0,), outputs=(1,))
        for code, y in (("ABS", "size"), ("NEG", "back"))
    ]  # fmt: skip
    return file_of(*networks, f7=[{2: "decode", 4: ("<I", 1)}])


@pytest.mark.parametrize(
    ("name", "output"), [("", "size"), ("main", "size"), ("0", "size"), ("decode", "back"), ("1", "back")]
)
def test_a_network_is_chosen_by_its_name(name: str, output: str) -> None:
    found = load(several(), Reading(network=name))
    assert [each.name for each in found.model.graph.output] == [output]
    assert [said.fix for said in found.diagnostics] == (
        [("--network decode   where that one is meant",)] if output == "size" else []
    )


def test_a_network_that_the_file_does_not_have() -> None:
    with pytest.raises(TilewrightError, match="no network called 'encode'") as caught:
        load(several(), Reading(network="encode"))
    assert (caught.value.code, caught.value.exit_code) == ("TW1243", Exit.USAGE)
    assert caught.value.details == ("it has decode, main, 0, 1",)


def test_a_signature_of_no_graph_is_damage() -> None:
    with pytest.raises(TilewrightError, match="a signature is of a graph that is not there"):
        load(file_of(small_network(), f7=[{2: "decode", 4: ("<I", 9)}]), Reading())


def test_options_of_another_operator_are_damage() -> None:
    ops = [Op(code="ADD", inputs=(0, 0), outputs=(1,), kind=21, options={})]
    tensors = [T(name=name, type="float32", shape=(1,)) for name in "xy"]
    with pytest.raises(TilewrightError, match=r"operator 0 \(ADD\) has the options of another") as caught:
        load(file_of(G(tensors=tensors, ops=ops, inputs=(0,), outputs=(1,))), Reading())
    assert (caught.value.code, caught.value.exit_code) == ("TW1202", Exit.MODEL)


def test_branches_loops_and_compressed_weights_work_together(compute: Callable[..., list[Any]]) -> None:
    x, w = np.float32([[1, -2, 3, -4]]), np.float32([0.5, -2, -2, 0.5])
    (y,) = compute(branching_network(), x)
    assert np.array_equal(y, -(-abs(x) + w) + w)


MUTANTS = 10_000 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 200


@settings(max_examples=MUTANTS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.sampled_from([SMALL, remembering_network(), branching_network()]),
    changes=st.lists(
        st.tuples(
            st.integers(0, 1 << 12),
            st.sampled_from(["<B", "<H", "<I"]),
            st.one_of(st.sampled_from([0, 1, 2, 127, 255, 1 << 15, 1 << 31, (1 << 32) - 1]), st.integers(0, 4096)),
        ),
        max_size=4,
    ),
    end=st.one_of(st.none(), st.integers(0, 1 << 12)),
)
def test_a_damaged_file_is_a_graph_or_a_code(
    data: bytes, changes: list[tuple[int, str, int]], end: int | None, read_in: Callable[[bytes], Any]
) -> None:
    made = bytearray(data)
    for at, form, value in changes:
        size = struct.calcsize(form)
        struct.pack_into(form, made, at % (len(made) - size), value & ((1 << 8 * size) - 1))
    try:
        read_in(bytes(made[:end])).graph.verify()
    except TilewrightError as error:
        assert error.code.startswith("TW") and error.exit_code in (Exit.MODEL, Exit.UNSUPPORTED)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared models are not there")
@pytest.mark.parametrize("file", sorted(SHARED.glob("*.tflite")), ids=lambda path: path.stem)
def test_public_models(file: Path, run_frames: Callable[..., list[dict[str, Any]]], read_in: Any) -> None:
    """What other kernels have computed: most elements are equal, and those of one operator at most one step off."""
    vectors, data = np.load(str(file).removesuffix(".tflite") + ".io.npz"), file.read_bytes()
    found = read_in(data)
    kept = {name for state in found.states for name in (state.input, state.output)}
    inputs = [name for name in found.graph.inputs if name not in kept]
    outputs = [name for name in found.graph.outputs if name not in kept]
    frames = [{name: vectors[f"{k}/in/{index}"] for index, name in enumerate(inputs)} for k in range(3)]
    values = run_frames(data, frames)
    pairs = [(values[k][name], vectors[f"{k}/out/{index}"]) for k in range(3) for index, name in enumerate(outputs)]
    assert all(ours.shape == theirs.shape and ours.dtype == theirs.dtype for ours, theirs in pairs)
    apart = np.concatenate([np.abs(a.astype(np.float64) - b.astype(np.float64)).reshape(-1) for a, b in pairs])
    if any(theirs.dtype.kind == "f" for _, theirs in pairs):
        assert apart.max() < 1e-5
        return
    deep = {"pretrainedResnet_quant": 40, "hello_world_int8": 3, "ad01_int8": 2}  # differences of one step add up
    assert apart.max() <= deep.get(file.stem, 1) and np.mean(apart > 0) < 0.4


PARTS = ("add*", "conv*", "leaky*", "pad*", "strided*", "sub*", "transpose*")  # of a network of 16-bit activations


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared models are not there")
@pytest.mark.parametrize(
    "file", sorted(file for part in PARTS for file in SHARED.glob(f"{part}.tflite")), ids=lambda path: path.stem
)
def test_layers_of_16_bits_are_those_of_tflite_micro(file: Path, as_arithmetic: Callable[[bytes], Any]) -> None:
    """Integers only, and every output of every set is equal."""
    graph, run = as_arithmetic(file.read_bytes())
    assert not {node.op for node in graph.nodes} & {"DequantizeLinear", "QuantizeLinear"}
    vectors = np.load(str(file).removesuffix(".tflite") + ".io.npz")
    for k in range(3):
        values = run({name: vectors[f"{k}/in/{index}"] for index, name in enumerate(graph.inputs)})
        for index, name in enumerate(graph.outputs):
            assert np.array_equal(values[name], vectors[f"{k}/out/{index}"])
