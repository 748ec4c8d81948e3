"""Test vectors: what can be read, what cannot, and random ones that are the same everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tilewright.comparison.vectors import quantised, random_vectors, read_vectors, stores_real
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph, Node, Quantization, Tensor
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.quantize import QUANTIZE

X = Tensor(name="x:0", dtype=DType.I8, shape=(1, 4))
Y = Tensor(name="y", dtype=DType.F32, shape=(2,))


def test_sets_are_read_in_order_and_given_their_shape(tmp_path: Path) -> None:
    arrays = {f"set{k}/in/x:0": np.full(4, k, np.int8) for k in (1, 0)}
    np.savez(tmp_path / "v.npz", **arrays, **{"set1/out/y": np.ones(2, np.float32), "set0/other/z": np.zeros(1)})
    first, second = read_vectors(tmp_path / "v.npz", {"x:0": X}, {"y": Y}, {})
    assert first.inputs["x:0"].tolist() == [[0, 0, 0, 0]]
    assert second.inputs["x:0"].tolist() == [[1, 1, 1, 1]]
    assert list(first.outputs) == []
    assert second.outputs["y"].tolist() == [1.0, 1.0]


IMAGE = Tensor(name="x", dtype=DType.F32, shape=(1, 2, 6, 7))
PIXELS = np.arange(84, dtype=np.float32)


def _read(folder: Path, array: np.ndarray, tensor: Tensor = IMAGE) -> np.ndarray:
    np.savez(folder / "v.npz", **{"set0/in/x": array})
    (found,) = read_vectors(folder / "v.npz", {"x": tensor}, {}, {})
    return found.inputs["x"]


@pytest.mark.parametrize("shape", [(1, 2, 6, 7), (2, 6, 7), (1, 1, 2, 6, 7)])
def test_shapes_agree_but_for_ones_in_front(tmp_path: Path, shape: tuple[int, ...]) -> None:
    assert np.array_equal(_read(tmp_path, PIXELS.reshape(shape)), PIXELS.reshape(IMAGE.shape))


@pytest.mark.parametrize("shape", [(84,), (1, 84), (1, 2, 7, 6), (2, 1, 6, 7), (1, 2, 42), (1, 2, 6, 7, 1)])
def test_as_many_elements_in_another_shape_are_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    with pytest.raises(TilewrightError, match="does not fit") as caught:
        _read(tmp_path, PIXELS.reshape(shape))
    assert caught.value.code == "TW6001"
    assert "channels" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "wanted", "says"),
    [
        ((1, 6, 7, 2), (1, 2, 6, 7), "channels last (NHWC), where the model has its channels first"),
        ((6, 7, 2), (1, 2, 6, 7), "channels last (NHWC), where the model has its channels first"),
        ((1, 2, 6, 7), (1, 6, 7, 2), "channels first (NCHW), where the model has its channels last"),
        ((2, 6, 7), (1, 6, 7, 2), "channels first (NCHW), where the model has its channels last"),
    ],
)
def test_channels_in_another_place_are_told_with_the_transpose_that_helps(
    tmp_path: Path, given: tuple[int, ...], wanted: tuple[int, ...], says: str
) -> None:
    tensor = Tensor(name="x", dtype=DType.F32, shape=wanted)
    with pytest.raises(TilewrightError, match="does not fit") as caught:
        _read(tmp_path, PIXELS.reshape(given), tensor)
    assert says in str(caught.value)
    (order,) = re.findall(r"array\.transpose\(([\d, ]+)\)", " ".join(caught.value.fix))
    moved = PIXELS.reshape(given).transpose([int(axis) for axis in order.split(",")])
    assert np.array_equal(_read(tmp_path, moved, tensor), moved.reshape(wanted))


def test_expected_values_have_their_shape_too(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", **{"set0/in/x:0": np.zeros(4, np.int8), "set0/out/y": np.zeros((2, 1), np.float32)})
    with pytest.raises(TilewrightError, match="set0/out/y"):
        read_vectors(tmp_path / "v.npz", {"x:0": X}, {"y": Y}, {})


def test_a_pickle_is_not_opened(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", **{"set0/in/x:0": np.array([print], dtype=object)})
    with pytest.raises(TilewrightError, match="TW6001"):
        read_vectors(tmp_path / "v.npz", {"x:0": X}, {}, {})


def test_a_damaged_member_is_an_error_of_the_file(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "v.npz", **{"set0/in/x:0": np.arange(4, dtype=np.int8)})
    whole = bytearray((tmp_path / "v.npz").read_bytes())
    for place in range(50, 110):
        damaged = bytes(whole[:place]) + bytes([whole[place] ^ 0xFF]) + bytes(whole[place + 1 :])
        (tmp_path / "v.npz").write_bytes(damaged)
        try:
            read_vectors(tmp_path / "v.npz", {"x:0": X}, {}, {})
        except TilewrightError as error:
            assert error.code == "TW6001"


def test_random_vectors_depend_on_the_seed_alone() -> None:
    one, two = random_vectors({"x": X, "y": Y}, 2, 7), random_vectors({"x": X, "y": Y}, 2, 7)
    for left, right in zip(one, two, strict=True):
        assert all(np.array_equal(left.inputs[name], right.inputs[name]) for name in ("x", "y"))
    assert one[0].inputs["x"].dtype == np.int8
    assert one[0].inputs["y"].shape == (2,)
    assert not np.array_equal(one[0].inputs["y"], one[1].inputs["y"])
    assert not np.array_equal(one[0].inputs["y"], random_vectors({"x": X, "y": Y}, 1, 8)[0].inputs["y"])


def test_random_integers_reach_both_ends() -> None:
    many = Tensor(name="m", dtype=DType.I8, shape=(10_000,))
    (drawn,) = random_vectors({"m": many}, 1, 0)
    assert (drawn.inputs["m"].min(), drawn.inputs["m"].max()) == (-128, 127)


def test_random_indices_are_there() -> None:
    table, indices = Tensor(name="w", dtype=DType.F32, shape=(2, 3)), Tensor(name="i", dtype=DType.I64, shape=(999,))
    node = Node(name="n", op="Gather", inputs=("w", "i"), outputs=("y",), attributes={"axis": 1})
    graph = Graph(
        name="g",
        inputs=("i",),
        outputs=("y",),
        nodes=(node,),
        tensors={"w": table, "i": indices, "y": Tensor(name="y", dtype=DType.F32, shape=(2, 999))},
        constants={},
    )
    (drawn,) = random_vectors({"i": indices}, 1, 0, graph)
    assert sorted(set(drawn.inputs["i"].tolist())) == [-3, -2, -1, 0, 1, 2]


@pytest.mark.parametrize("dtype", [DType.F32, DType.I8, DType.U8, DType.I64, DType.BOOL])
def test_a_random_scalar_has_the_type_that_is_declared(dtype: DType) -> None:
    (drawn,) = random_vectors({"t": Tensor(name="t", dtype=dtype, shape=())}, 1, 0)
    assert isinstance(drawn.inputs["t"], np.ndarray)
    assert (drawn.inputs["t"].shape, drawn.inputs["t"].dtype) == ((), dtype.numpy)


OPERATORS = {"QuantizeLinear": QUANTIZE}
STORING = Tensor(name="x", dtype=DType.I8, shape=(1, 4), quantization=Quantization(scale=(0.5,), zero_point=(-3,)))
REAL = np.array([[0.25, 0.75, -1000.0, np.nan]], np.float32)
STORED = [[-3, -1, -128, -3]]


def test_halves_go_to_the_even_one_and_ends_are_kept() -> None:
    assert quantised(STORING, REAL, OPERATORS).tolist() == STORED


def test_vectors_of_real_values_are_taken_for_quantised_tensors(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", **{"set0/in/x": REAL.reshape(4), "set0/out/y": np.array(STORED, np.int8)})
    (found,) = read_vectors(tmp_path / "v.npz", {"x": STORING}, {"y": STORING}, OPERATORS)
    assert (found.inputs["x"].tolist(), found.outputs["y"].tolist()) == (STORED, STORED)


def test_only_floats_of_tensors_with_one_scale_are_real_values() -> None:
    plain = Tensor(name="x", dtype=DType.I8, shape=(1, 4))
    assert stores_real(STORING, REAL)
    assert not stores_real(STORING, np.zeros((1, 4), np.int8))
    assert not stores_real(plain, REAL)
    with pytest.raises(ValueError, match="not quantised"):
        quantised(plain, REAL, OPERATORS)
