"""Streams that are cut into frames and joined again, run after run: what comes out once there is enough of the stream,
against numpy, and against the package tflite-micro where it is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from flat_models import G, Op, T, file_of

from tilewright.api.importer import Reading
from tilewright.errors import TilewrightError
from tilewright_tflite import RUNTIMES

RUNS = 9
Frames = Callable[..., list[dict[str, Any]]]


def network(
    code: str,
    taken: Sequence[int],
    given: Sequence[int],
    *,
    valid: bool = False,
    kind: str = "int16",
    **numbers: int,
) -> bytes:
    """One operator."""
    tensors = [T(name="x", type=kind, shape=tuple(taken)), T(name="y", type=kind, shape=tuple(given))]
    tensors += [T(name="valid", type="bool", shape=())] if valid else []
    places = (1, 2) if valid else (1,)
    op = Op(code=f"Signal{code}", inputs=(0,), outputs=places, numbers=numbers)
    return file_of(G(tensors=tensors, ops=[op], inputs=(0,), outputs=places))


def sounds(shape: Sequence[int], kind: str = "int16") -> list[Mapping[str, Any]]:
    random = np.random.default_rng(5)
    return [{"x": random.integers(-32768, 32768, tuple(shape)).astype(kind)} for _ in range(RUNS)]


CASES: Mapping[str, tuple[bytes, list[Mapping[str, Any]]]] = {
    "delay": (network("Delay", (2, 6), (2, 6), delay_length=9), sounds((2, 6))),
    "delay in a frame": (network("Delay", (6,), (6,), delay_length=2), sounds((6,))),
    "no delay": (network("Delay", (6,), (6,), delay_length=0), sounds((6,))),
    "frames, filled": (
        network("Framer", (2, 8), (2, 2, 7), valid=True, frame_size=7, frame_step=4, prefill=1), sounds((2, 8))
    ),
    "frames": (network("Framer", (4,), (1, 10), valid=True, frame_size=10, frame_step=4, prefill=0), sounds((4,))),
    "several frames": (
        network("Framer", (2, 6), (2, 3, 9), valid=True, frame_size=9, frame_step=2, prefill=0), sounds((2, 6))
    ),
    "short frames": (network("Framer", (8,), (2, 3), valid=True, frame_size=3, frame_step=4, prefill=0), sounds((8,))),
    **{
        f"stack {left} {right} {step}": (
            network("Stacker", (3,), (3 * (left + right + 1),), valid=True, num_channels=3,
                    stacker_left_context=left, stacker_right_context=right, stacker_step=step),
            sounds((3,)),
        )
        for left, right, step in ((2, 0, 1), (1, 2, 2), (0, 3, 1), (0, 0, 1), (1, 1, 3))
    },
    "overlaps": (network("OverlapAdd", (2, 3, 7), (2, 9), T=7, frame_step=3), sounds((2, 3, 7))),
    "overlap of floats": (
        network("OverlapAdd", (1, 6), (4,), kind="float32", T=0, frame_step=4), sounds((1, 6), "float32")
    ),
    "no overlap": (network("OverlapAdd", (1, 6), (6,), T=7, frame_step=6), sounds((1, 6))),
}  # fmt: skip


def told(run: Mapping[str, Any]) -> tuple[bool, Any]:
    """Whether there is a result, and the result: what is there while there is none is left unwritten."""
    valid = bool(run.get("valid", True))
    return valid, np.asarray(run["y"]).tolist() if valid else None


@pytest.mark.parametrize("name", CASES)
def test_runs_are_those_of_tflite_micro(name: str, run_frames: Frames) -> None:
    pytest.importorskip("tflite_micro")
    micro = next(one for one in RUNTIMES if one.name == "tflite-micro")
    data, frames = CASES[name]
    wanted = micro.values(data, Reading(), frames)
    assert [told(one) for one in run_frames(data, frames)] == [told(one) for one in wanted]


def test_a_delay_is_what_was_before(run_frames: Frames) -> None:
    data, frames = CASES["delay"]
    found = np.concatenate([one["y"] for one in run_frames(data, frames)], axis=-1)
    stream = np.concatenate([np.zeros((2, 9), np.int16), *(one["x"] for one in frames)], axis=-1)
    assert np.array_equal(found, stream[:, : found.shape[1]])


def test_frames_begin_a_step_apart_once_there_are_enough_samples(run_frames: Frames) -> None:
    data, frames = CASES["frames"]
    found = run_frames(data, frames)
    stream = np.concatenate([one["x"] for one in frames])
    assert [bool(one["valid"]) for one in found] == [False, False, *[True] * (RUNS - 2)]
    for at, one in enumerate(found[2:]):
        assert np.array_equal(one["y"][0], stream[4 * at : 4 * at + 10])


def test_the_first_frame_stands_for_those_before_it(run_frames: Frames) -> None:
    data, frames = CASES["stack 1 2 2"]
    found = run_frames(data, frames)
    assert [bool(one["valid"]) for one in found] == [at >= 2 and at % 2 == 0 for at in range(RUNS)]
    rows = [frames[0]["x"], *(one["x"] for one in frames)]
    for at in range(2, RUNS, 2):
        assert np.array_equal(found[at]["y"], np.concatenate(rows[at - 2 : at + 2]))


def test_sums_of_what_overlaps_are_limited(run_frames: Frames) -> None:
    frames = [{"x": np.full((1, 4), 30000, np.int16)} for _ in range(3)]
    found = run_frames(network("OverlapAdd", (1, 4), (2,), T=7, frame_step=2), frames)
    assert [one["y"].tolist() for one in found] == [[30000] * 2, [32767] * 2, [32767] * 2]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (network("Delay", (6,), (5,), delay_length=1), "its output is int16 5"),
        (network("Framer", (7,), (1, 7), valid=True, frame_size=7, frame_step=4, prefill=1), "steps of 4 are known"),
        (network("Framer", (4,), (1, 3), valid=True, frame_size=3, frame_step=4, prefill=1), "shorter than a step"),
        (network("Framer", (4,), (1, 9), valid=True, frame_size=8, frame_step=4, prefill=1), "frames of 8 samples"),
        (
            network("Stacker", (3,), (6,), valid=True, num_channels=3, stacker_left_context=1,
                    stacker_right_context=0, stacker_step=3),
            "its option 'stacker_step' is 3",
        ),
        (network("OverlapAdd", (1, 4), (5,), T=7, frame_step=5), "with steps of 5"),
        (network("OverlapAdd", (1, 4), (2,), T=2, frame_step=2), "frames of int16 or float32 are known"),
    ],
)  # fmt: skip
def test_what_is_refused_says_why(data: bytes, reason: str, read_in: Callable[[bytes], Any]) -> None:
    with pytest.raises(TilewrightError) as caught:
        read_in(data)
    assert caught.value.code == "TW2101" and reason in "\n".join(caught.value.details)
