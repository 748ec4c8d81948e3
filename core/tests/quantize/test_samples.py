"""What an npz file of samples may look like, and what is said of one that does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.quantize.samples import NetworkInput, read_samples

IMAGE = NetworkInput(name="image", shape=(1, 1, 4, 4))
OPEN = NetworkInput(name="image", shape=("N", 1, 4, 4))
TOKENS = NetworkInput(name="tokens", shape=(7,), dtype="int64")


def saved(folder: Path, **arrays: Any) -> Path:
    np.savez(folder / "samples.npz", **arrays)
    return folder / "samples.npz"


@pytest.mark.parametrize("declared", [IMAGE, OPEN], ids=["batch of 1", "open batch"])
@pytest.mark.parametrize("shape", [(3, 1, 4, 4), (3, 1, 1, 4, 4)], ids=["batch left out", "batch given"])
def test_samples_have_the_shape_that_the_network_takes(
    tmp_path: Path, declared: NetworkInput, shape: tuple[int, ...]
) -> None:
    images = np.arange(48, dtype=np.float64).reshape(shape)
    samples = read_samples(saved(tmp_path, image=images), [declared])
    assert [one["image"].shape for one in samples.inputs] == [(1, 1, 4, 4)] * 3
    assert samples.inputs[2]["image"].dtype == np.float32
    np.testing.assert_array_equal(samples.inputs[2]["image"].ravel(), images[2].ravel())


def test_labels_and_other_types(tmp_path: Path) -> None:
    file = saved(tmp_path, image=np.zeros((2, 1, 4, 4)), tokens=np.ones((2, 7)), labels=np.array([3, 1], np.uint8))
    samples = read_samples(file, [IMAGE, TOKENS])
    assert samples.labels == (3, 1)
    assert samples.inputs[0]["tokens"].dtype == np.int64


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"picture": np.zeros((2, 1, 4, 4))}, "no array 'image': it has picture"),
        ({"image": np.zeros((2, 1, 5, 4))}, "'image' is 2 x 1 x 5 x 4; samples x 1 x 1 x 4 x 4"),
        ({"image": np.zeros(16)}, "'image' is 16"),
        ({"image": np.full((2, 1, 4, 4), np.inf, np.float32)}, "'image' has infinities or NaN"),
        ({"image": np.full((2, 1, 4, 4), np.nan)}, "'image' has infinities or NaN"),
        ({"image": np.zeros((0, 1, 4, 4))}, "or none: 'image' 0"),
        ({"image": np.zeros((2, 1, 4, 4)), "labels": np.zeros(2)}, "'labels' must be one integer"),
        ({"image": np.zeros((2, 1, 4, 4)), "labels": np.zeros(3, np.int64)}, "each of the 2 samples"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        read_samples(saved(tmp_path, **arrays), [IMAGE])
    assert (caught.value.code, caught.value.exit_code) == ("TW6030", 2)
    assert words in str(caught.value)


def test_inputs_of_different_length_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TilewrightError, match="different numbers of samples"):
        read_samples(saved(tmp_path, image=np.zeros((2, 1, 4, 4)), tokens=np.zeros((3, 7))), [IMAGE, TOKENS])


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut", b"no archive"])
def test_a_file_that_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "samples.npz").write_bytes(content)
    with pytest.raises(TilewrightError, match="TW6030"):
        read_samples(tmp_path / "samples.npz", [IMAGE])
    with pytest.raises(TilewrightError, match="TW6030"):
        read_samples(tmp_path / "none.npz", [IMAGE])


def test_a_single_array_instead_of_an_archive_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(TilewrightError, match="TW6030"):
        read_samples(tmp_path / "one.npy", [IMAGE])
