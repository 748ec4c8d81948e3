"""Weights that are stored compressed, against numpy, and against the package tflite-micro where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flat_models import G, Op, T, constant, file_of

from tilewright.api.importer import Limits, Reading
from tilewright.errors import TilewrightError
from tilewright_tflite import RUNTIMES
from tilewright_tflite.importing import load

X = np.int8([[3, -1, 4, 1, -5, 9]])
Q: dict[str, Any] = {"scale": (0.5,), "zero": (0,)}
TABLE = np.int8([-3, 0, 2, 5])
INDICES = np.array([0, 1, 2, 3, 3, 2, 1, 0, 2, 2, 1, 3, 0, 0, 3, 1, 1, 2])  # of [3, 6]


def bits(numbers: Any, width: int) -> Any:
    """From the highest bit of each byte on."""
    text = "".join(f"{number:0{width}b}" for number in numbers)
    return np.packbits([int(bit) for bit in text])


def metadata(kind: int, *, width: int = 0, stride: int = 0, version: int = 1) -> Any:
    made = np.zeros(16, np.uint8)
    made[[0, 1, 4, 5, 6]] = kind, version, version, width, stride
    return made


def dense(data: Any, how: Any, **weights: Any) -> bytes:
    """y = W x, where W is stored compressed."""
    form = {"name": "w", "shape": (3, 6), "scale": (0.25,), "zero": (0,), **weights}
    tensors = [
        T(name="x", shape=X.shape, **Q),
        constant(np.asarray(data, np.uint8), "bits"),
        constant(how, "how"),
        T(**form),
        T(name="y", shape=(1, 3), scale=(0.125,), zero=(0,)),
    ]
    ops = [
        Op(code="TFLM_DECODE", inputs=(1, 2), outputs=(3,)),
        Op(code="FULLY_CONNECTED", inputs=(0, 3, -1), outputs=(4,), options={}, kind=8, version=4),
    ]
    return file_of(G(tensors=tensors, ops=ops, inputs=(0,), outputs=(4,)))


def tables(*channels: Any, width: int = 2) -> Any:
    """Metadata, and a table for each channel."""
    values = np.concatenate(channels).astype(np.int8).view(np.uint8)
    return np.concatenate([metadata(0, width=width, stride=len(channels[0])), values])


def pruned(weights: Any) -> tuple[Any, Any]:
    return bits((weights != 0).reshape(-1).astype(int), 1), np.concatenate(
        [metadata(2), weights[weights != 0].astype(np.int8).view(np.uint8)]
    )


def huffman(*, wide: bool = False, first: int = 2) -> tuple[Any, Any]:
    """Code words 0, 10, 110 and 111 for the numbers of TABLE: two bits at once, and a third where it is needed."""
    bits_at, kind = (27, "<u4") if wide else (11, "<u2")
    ends = ((0, 1), (0, 1), (1, 2), None, (2, 1), (3, 1))
    found = [
        1 if each is None else 1 << (bits_at + 4) | each[1] << bits_at | int(TABLE[each[0]]) & 0xFF for each in ends
    ]
    how = metadata(1)
    how[5] = (first - 1) << 4 | wide
    words = "".join(("0", "10", "110", "111")[index] for index in INDICES)
    return np.packbits([int(bit) for bit in words]), np.concatenate([how, np.array(found, kind).view(np.uint8)])


SPARSE = np.where(INDICES.reshape(3, 6) > 1, TABLE[INDICES].reshape(3, 6), 0)
SCALES = {"scale": (0.25, 0.5, 1.0), "zero": (0, 0, 0)}
ROWS = (TABLE, TABLE[::-1], np.int8([1, 2, 3, 4]))
CASES: dict[str, tuple[bytes, Any, Any]] = {
    "one table": (dense(bits(INDICES, 2), tables(TABLE)), TABLE[INDICES].reshape(3, 6), 0.25),
    "wider": (dense(bits(INDICES, 3), tables(np.resize(TABLE, 8), width=3)), TABLE[INDICES].reshape(3, 6), 0.25),
    "a table each": (
        dense(bits(INDICES, 2), tables(*ROWS), **SCALES),
        np.stack([row[part] for row, part in zip(ROWS, INDICES.reshape(3, 6), strict=True)]),
        np.array(SCALES["scale"]),
    ),
    "code words": (dense(*huffman()), TABLE[INDICES].reshape(3, 6), 0.25),
    "code words in a wide table": (dense(*huffman(wide=True)), TABLE[INDICES].reshape(3, 6), 0.25),
    "pruned": (dense(*pruned(SPARSE)), SPARSE, 0.25),
}


@pytest.mark.parametrize("case", CASES)
def test_weights_are_what_was_compressed(case: str, compute: Any) -> None:
    data, weights, scales = CASES[case]
    (y,) = compute(data, X)
    exact = (X.astype(np.int64) @ weights.astype(np.int64).T) * 0.5 * scales / 0.125
    assert np.array_equal(y, np.clip(exact, -128, 127))


@pytest.mark.parametrize("case", CASES)
def test_tflm_decodes_the_same(case: str, compute: Any) -> None:
    pytest.importorskip("tflite_micro")
    micro = next(one for one in RUNTIMES if one.name == "tflite-micro")
    (found,) = micro.values(CASES[case][0], Reading(), [{"x": X}])
    (y,) = compute(CASES[case][0], X)
    assert np.array_equal(found["y"], y)


@pytest.mark.parametrize(
    ("data", "how", "said"),
    [
        (bits(INDICES, 2)[:3], tables(TABLE), "has 3 bytes for 18 numbers of 2 bits"),
        (bits(INDICES, 2), tables(TABLE[:3]), "names a value that its tables do not have"),
        (bits(INDICES, 2), tables(TABLE, width=0), "numbers of 0 bits"),
        (bits(INDICES, 2), metadata(3), "is compressed in way 3"),
        (bits(INDICES, 2), metadata(1), "has code words that lead out of their table"),
        (huffman()[0][:3], huffman()[1], "or out of their bits"),
        (bits([1] * 18, 1), np.append(metadata(1), np.uint8([0, 0x80] * 2)), "has a code word without bits"),
        (bits(INDICES, 2), metadata(0, version=2), "in a way that is not known"),
        (bits(INDICES, 2), metadata(0)[:9], "in a way that is not known"),
        (bits([1] * 18, 1), metadata(2), "has 18 elements with values, and 0 values"),
    ],
)
def test_what_is_wrong_is_refused(data: Any, how: Any, said: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        load(dense(data, how), Reading())
    assert caught.value.code == "TW2101" and said in caught.value.details[0]


def test_what_is_decoded_has_a_limit() -> None:
    with pytest.raises(TilewrightError, match="more bytes of constants") as caught:
        load(CASES["one table"][0], Reading(limits=Limits(constant_bytes=143)))
    assert caught.value.code == "TW1203"
