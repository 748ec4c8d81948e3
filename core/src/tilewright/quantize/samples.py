"""Knows samples: an npz file with one array for each input of a network, one sample along the first axis of each; and
what is expected of them, where the file says so. Does not know what they are used for.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tilewright.errors import TilewrightError, usage_error

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

LABELS = "labels"  # the class of each sample, for a network whose first output has one element for each class


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInput:
    """An input as the model declares it: extents, or names of extents that are open."""

    name: str
    shape: tuple[int | str, ...]
    dtype: str = "float32"  # as numpy calls it


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Inputs of every sample, as a runtime takes them, and the class of each, where it is known."""

    inputs: tuple[Mapping[str, Array], ...] = field(repr=False)
    labels: tuple[int, ...] = ()


def read_samples(file: Path, inputs: Sequence[NetworkInput]) -> Samples:
    """The samples of an npz file. Raises TilewrightError TW6030 (exit 2) that says which array is missing or odd."""
    arrays = _arrays(file)
    counts = {network_input.name: len(_sampled(arrays, network_input, file)) for network_input in inputs}
    if len(set(counts.values())) != 1 or 0 in counts.values():
        texts = ", ".join(f"'{name}' {count}" for name, count in counts.items())
        raise _refused(file, f"its inputs have different numbers of samples, or none: {texts}")
    count = next(iter(counts.values()))
    columns = {network_input.name: _sampled(arrays, network_input, file) for network_input in inputs}
    return Samples(
        inputs=tuple({name: column[number] for name, column in columns.items()} for number in range(count)),
        labels=_labels(arrays, count, file),
    )


def _arrays(file: Path) -> dict[str, Array]:
    try:
        with np.load(file, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except (OSError, ValueError, EOFError, AttributeError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        raise _refused(file, str(error).splitlines()[0] if str(error) else type(error).__name__) from None


def _sampled(arrays: Mapping[str, Array], network_input: NetworkInput, file: Path) -> Array:
    """All samples of an input, in its type: (samples, *shape). A batch axis of 1, or an open one, may be left out."""
    if network_input.name not in arrays:
        raise _refused(file, f"there is no array '{network_input.name}': it has {', '.join(sorted(arrays)) or 'none'}")
    array = arrays[network_input.name].astype(network_input.dtype)
    batched = bool(network_input.shape) and (network_input.shape[0] == 1 or isinstance(network_input.shape[0], str))
    if array.ndim == len(network_input.shape) and batched:
        array = array[:, None]
    fits = array.ndim == len(network_input.shape) + 1 and all(
        isinstance(wanted, str) or wanted == actual
        for wanted, actual in zip(network_input.shape, array.shape[1:], strict=True)
    )
    if not fits:
        wanted = " x ".join(str(extent) for extent in network_input.shape)
        actual = " x ".join(str(extent) for extent in arrays[network_input.name].shape)
        raise _refused(file, f"'{network_input.name}' is {actual}; samples x {wanted} is what the network takes")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise _refused(file, f"'{network_input.name}' has infinities or NaN, of which no range can be made")
    return array


def _labels(arrays: Mapping[str, Array], count: int, file: Path) -> tuple[int, ...]:
    if LABELS not in arrays:
        return ()
    labels = arrays[LABELS]
    if labels.shape != (count,) or labels.dtype.kind not in "iu":
        raise _refused(file, f"'{LABELS}' must be one integer for each of the {count} samples")
    return tuple(int(label) for label in labels)


def _refused(file: Path, reason: str) -> TilewrightError:
    return usage_error(
        "TW6030",
        "these samples cannot be used",
        where=str(file),
        details=(reason,),
        fix=("numpy.savez(FILE, INPUT=samples, ...)     one array for each input, samples along its first axis",),
    )
