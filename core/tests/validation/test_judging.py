"""Both sides get the same inputs, those of a file or random ones; a file has inputs, outputs, and values inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from tilewright.comparison.judgement import AGREE, OURS
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.plugins.loading import load_packs
from tilewright.validation.judging import judge_file, judge_runtime

X = np.array([[-3, -2, -1, 0, 1, 2, 3, 4]], np.int8)
AWAY = np.array([[-2, -1, -1, 0, 1, 1, 2, 2]], np.int8)  # halves away from 0


@pytest.fixture(name="halves")
def _halves() -> Deployment:
    return halved()


def halved(slide: str = "") -> Deployment:
    """x / 2, rounded, and then its opposite."""
    ends = [helper.make_tensor_value_info(name, TensorProto.INT8, [1, 8]) for name in "xy"]
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "fine"], ["real"]),
        helper.make_node("QuantizeLinear", ["real", "coarse", "zero"], ["half"]),
        helper.make_node("Concat", ["half"], ["y"], axis=0),
    ]
    numbers = [helper.make_tensor(name, TensorProto.FLOAT, [], [value]) for name, value in (("fine", 1), ("coarse", 2))]
    graph = helper.make_graph(
        nodes, "g", ends[:1], ends[1:], [*numbers, helper.make_tensor("zero", TensorProto.INT8, [], [0])]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Deployment(model.SerializeToString(), "", Options(slide=slide), load_packs())


def save(folder: Path, name: str = "values.npz", **arrays: Any) -> Path:
    np.savez(folder / name, **{key.replace("_", "/"): value for key, value in arrays.items()})
    return folder / name


def test_a_file_with_inputs_and_outputs(halves: Deployment, tmp_path: Path) -> None:
    verdict, sets = judge_file(halves, save(tmp_path, set0_in_x=X, set0_out_y=AWAY), None)
    assert (verdict.right, sets) == (OURS, 1)
    assert [(each.parted, each.ties) for each in verdict.judgements] == [(2, 2)]


@pytest.mark.parametrize(("last", "half", "right"), [(3, 2, AGREE), (5, 3, OURS)])
def test_calls_of_a_stream_are_judged_on_their_windows(tmp_path: Path, last: int, half: int, right: str) -> None:
    window, arrays = np.zeros((1, 8), np.int8), {}
    for call, (new, halved_new) in enumerate([(0, 0), (4, 2), (last, half)]):
        window = np.append(window[:, 1:], [[np.int8(halved_new)]], axis=1)
        arrays |= {f"set{call}_in_x": np.full((1, 1), new, np.int8), f"set{call}_out_y": window}
    verdict, sets = judge_file(halved("x[1]=1"), save(tmp_path, **arrays), None)
    assert (verdict.right, sets) == (right, 3)


def test_random_calls_of_a_stream_are_asked_for_as_windows() -> None:
    def ask(frames: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        assert [frame["x"].shape for frame in frames] == [(1, 8)] * 4
        assert np.array_equal(frames[3]["x"][:, :-2], frames[2]["x"][:, 2:])
        return [{"y": np.rint(frame["x"] / 2).astype(np.int8)} for frame in frames]

    verdict, _ = judge_runtime(halved("x[1]=2"), None, 4, ask)
    assert verdict.right == AGREE


def test_inputs_of_their_own_file(halves: Deployment, tmp_path: Path) -> None:
    inputs = save(tmp_path, "inputs.npz", set0_in_x=X, set1_in_x=X + 1)
    even = np.rint(X / 2).astype(np.int8)
    values = save(tmp_path, set0_out_y=even, set1_out_y=np.rint((X + 1) / 2).astype(np.int8))
    assert [item if isinstance(item, int) else item.right for item in judge_file(halves, values, inputs)] == [AGREE, 2]


@pytest.mark.parametrize(
    ("arrays", "with_inputs", "said"),
    [
        ({"set0_out_y": AWAY}, False, "the inputs are missing"),
        ({"set0_in_x": X, "set0_out_y": AWAY}, True, "given twice"),
        ({"set1_out_y": AWAY}, True, "no expected values for set 0"),
        ({"set0_in_x": X, "set0_out_nobody": AWAY}, False, "no expected values for set 0"),
        ({"set0_in_x": X, "set0_out_y": AWAY[:, :3]}, False, "does not fit"),
    ],
)
def test_files_that_do_not_fit(
    halves: Deployment, arrays: Mapping[str, Any], with_inputs: bool, said: str, tmp_path: Path
) -> None:
    inputs = save(tmp_path, "inputs.npz", set0_in_x=X) if with_inputs else None
    with pytest.raises(TilewrightError, match=said) as caught:
        judge_file(halves, save(tmp_path, **arrays), inputs)
    assert (caught.value.code, caught.value.exit_code) == ("TW6001", Exit.USAGE)


def test_a_runtime_gets_the_same_inputs(halves: Deployment, tmp_path: Path) -> None:
    asked: list[Sequence[Mapping[str, Any]]] = []

    def ask(frames: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        asked.append(frames)
        halved = [np.asarray(frame["x"]).astype(float) / 2 for frame in frames]
        return [{"y": np.asarray(np.sign(half) * np.floor(np.abs(half) + 0.5)).astype(np.int8)} for half in halved]

    verdict, sets = judge_runtime(halves, save(tmp_path, set0_in_x=X), 5, ask)
    assert (verdict.right, sets) == (OURS, 1)
    np.testing.assert_array_equal(asked[0][0]["x"], X)
    verdict, sets = judge_runtime(halves, None, 5, ask)
    assert (sets, len(asked[1])) == (5, 5)
    assert len({frame["x"].tobytes() for frame in asked[1]}) == 5
