"""The microphone's front end: every frame as the runtime's own library computes it, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flat_models import G, Op, T, file_of, front_end, sound

from tilewright.api.importer import Reading
from tilewright.errors import TilewrightError
from tilewright_tflite import RUNTIMES

# What tflite-micro 0.dev20261023182759 gives for the twelve frames, one interpreter for all of them.
LOGARITHMS = [
    [0, 0, 0, 0], [4436, 0, 0, 0], [17010, 17573, 17499, 17844], [20947, 21723, 22533, 21340],
    [19206, 13900, 16103, 17187], [16509, 20192, 17847, 16563], [15943, 13530, 19254, 19635], [0, 0, 0, 0],
    [0, 0, 0, 0], [9345, 11525, 11115, 11497], [20798, 21370, 20567, 21052], [18527, 12089, 11772, 12984],
]  # fmt: skip
NOISE = [41536804, 50303696, 36833236, 48451593]


def test_frames_are_those_of_the_runtime(run_frames: Callable[..., list[dict[str, Any]]]) -> None:
    found = run_frames(file_of(front_end()), [{"frame": frame} for frame in sound(12)])
    assert [frame["log"].tolist() for frame in found] == LOGARITHMS
    assert found[-1]["noise"].tolist() == NOISE


KINDS = {"float32": 0, "int32": 2, "int16": 7}


def transform(name: str, length: int, extents: tuple[int, int], kind: str = "int16", rows: tuple[int, ...] = ()) -> G:
    """A transform of rows, from as many numbers to as many."""
    tensors = [T(name=each, type=kind, shape=(*rows, count)) for each, count in zip("xy", extents, strict=True)]
    op = Op(code=name, inputs=(0,), outputs=(1,), numbers={"T": KINDS[kind], "fft_length": length})
    return G(tensors=tensors, ops=[op], inputs=(0,), outputs=(1,))


def back(length: int, bins: int) -> G:
    """From a spectrum to samples."""
    return transform("SignalIrfft", length, (2 * bins, length))


def test_samples_of_a_spectrum_with_the_ends_of_16_bits(run_frames: Callable[..., list[dict[str, Any]]]) -> None:
    """What the same runtime gives."""
    bins = np.array([32767, 0, -20000, 1234, 5, -32768, 31000, 777, -32768, 99], np.int16)
    (found,) = run_frames(file_of(back(8, 5)), [{"x": bins}])
    assert found["y"].tolist() == [2751, -1178, -116, 467, -2749, 17560, 114, -16849]


@pytest.mark.parametrize("length", [4, 8, 64, 512])
def test_samples_of_a_spectrum_are_those_of_the_runtime(
    length: int, run_frames: Callable[..., list[dict[str, Any]]]
) -> None:
    pytest.importorskip("tflite_micro")
    micro = next(one for one in RUNTIMES if one.name == "tflite-micro")
    data, random = file_of(back(length, length // 2 + 1)), np.random.default_rng(length)
    frames = [{"x": random.integers(-size, size, length + 2).astype(np.int16)} for size in (9, 3000, 32768)]
    frames.append({"x": np.full(length + 2, -32768, np.int16)})
    wanted = micro.values(data, Reading(), frames)
    assert [one["y"].tolist() for one in run_frames(data, frames)] == [one["y"].tolist() for one in wanted]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "extents"), [("SignalRfft", (30, 34)), ("SignalIrfft", (34, 32))])
@pytest.mark.parametrize("rows", [(), (3,), (2, 1, 2)])
def test_transforms_of_every_kind_are_those_of_the_runtime(
    name: str, extents: tuple[int, int], kind: str, rows: tuple[int, ...], compute: Callable[..., list[Any]]
) -> None:
    pytest.importorskip("tflite_micro")
    micro = next(one for one in RUNTIMES if one.name == "tflite-micro")
    random, data = np.random.default_rng(3), file_of(transform(name, 32, extents, kind, rows))
    x = random.standard_normal((*rows, extents[0])).astype(np.float32)
    if kind != "float32":
        ends = np.iinfo(kind)
        x = random.integers(ends.min // 4, ends.max // 4, x.shape).astype(kind)
    (found,), (wanted,) = compute(data, x), micro.values(data, Reading(), [{"x": x}])
    assert found.dtype == x.dtype and found.shape == wanted["y"].shape
    assert np.abs(found.astype(np.float64) - wanted["y"]).max() <= (1e-5 if kind == "float32" else 0)


def changed(code: str, **numbers: int) -> G:
    graph = front_end()
    ops = [replace(op, numbers={**op.numbers, **numbers}) if op.code == code else op for op in graph.ops]
    return replace(graph, ops=ops)


def typed(name: str, **form: Any) -> G:
    graph = front_end()
    return replace(graph, tensors=[replace(each, **form) if each.name == name else each for each in graph.tensors])


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (changed("SignalWindow", shift=40), "its option 'shift' is 40; 0 to 31 are known"),
        (changed("SignalRfft", T=3), "its option 'T' is 3; 0, 2, 7 are known"),
        (changed("SignalRfft", T=0), "is int16 60; float32 is known"),
        (changed("SignalRfft", fft_length=60), "a power of two is known"),
        (changed("SignalRfft", fft_length=32), "of 32 samples, its input of 60"),
        (changed("SignalEnergy", end_index=34), "its option 'end_index' is 34"),
        (changed("SignalFilterBank", num_channels=3), "its tables are not of 3 channels"),
        (changed("SignalFilterBankSpectralSubtraction", num_channels=5), "its channels are uint32 4"),
        (back(60, 31), "its transform is of 60 samples; a power of two is known"),
        (back(64, 32), "its input is int16 64; 33 bins make 64 samples"),
        (typed("window", shape=(30,), data=b"\0" * 60), "its window has int16 30"),
        (typed("frame", type="int32"), "'frame' is int32 1x60; int16 is known"),
        (typed("table2", data=b"\x20\0" * 5), "its tables lead out of the spectrum"),
        (typed("gains", shape=(100,), data=b"\0" * 200), "125 numbers are known"),
    ],
)
def test_what_is_refused_says_why(graph: G, reason: str, read_in: Callable[[bytes], Any]) -> None:
    with pytest.raises(TilewrightError) as caught:
        read_in(file_of(graph))
    assert caught.value.code == "TW2101" and reason in "\n".join(caught.value.details)


def test_options_that_are_missing_are_named(read_in: Callable[[bytes], Any]) -> None:
    graph = front_end()
    ops = [replace(op, numbers={"other": 1}) if op.code == "SignalPCAN" else op for op in graph.ops]
    with pytest.raises(TilewrightError) as caught:
        read_in(file_of(replace(graph, ops=ops)))
    assert "its option 'snr_shift' is missing" in "\n".join(caught.value.details)
