"""TensorFlow Lite files for tilewright: what the plugin offers. Does not know how they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.api import hookimpl
from tilewright.api.exporter import Exporter
from tilewright.api.importer import FormatRuntime, ImportedModel, Importer, Reading
from tilewright.api.kernel import Kernel
from tilewright.api.operator import Operator

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tilewright.api.stages import Allocated, Artifact

    Array = npt.NDArray[np.generic]
    Sets = Sequence[Mapping[str, Array]]
    Values = Sequence[Mapping[str, Array]]


def _recognises(data: bytes) -> bool:
    return data[4:8] == b"TFL3"


def _load(data: bytes, reading: Reading) -> ImportedModel:
    from tilewright_tflite.importing import load

    return load(data, reading)


def _micro(data: bytes, reading: Reading, sets: Sets) -> Values:
    from tilewright_tflite.runtimes import micro_values

    return micro_values(data, reading, sets)


def _litert(data: bytes, reading: Reading, sets: Sets) -> Values:
    from tilewright_tflite.runtimes import litert_values

    return litert_values(data, reading, sets)


def _xnnpack(data: bytes, reading: Reading, sets: Sets) -> Values:
    from tilewright_tflite.runtimes import xnnpack_values

    return xnnpack_values(data, reading, sets)


_LITERT = {"package": "ai-edge-litert", "module": "ai_edge_litert"}
RUNTIMES = (
    FormatRuntime(name="tflite-micro", package="tflite-micro", module="tflite_micro", values=_micro),
    FormatRuntime(name="litert", **_LITERT, values=_litert),
    FormatRuntime(name="litert-xnnpack", **_LITERT, values=_xnnpack),
)
IMPORTER = Importer(
    name="tflite",
    summary="TensorFlow Lite, as TensorFlow Lite for Microcontrollers runs it",
    suffixes=(".tflite",),
    recognises=_recognises,
    load=_load,
    runtimes=RUNTIMES,
)


def _written(plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    from tilewright_tflite.exporting import written

    return written(plan, artifact)


EXPORTER = Exporter(
    name="tflm",
    summary="PREFIX_tflm.h: the calls of TensorFlow Lite for Microcontrollers, for applications written for it",
    files=_written,
)


@hookimpl
def tilewright_importers() -> Iterable[Importer]:
    """The format of .tflite files."""
    return (IMPORTER,)


@hookimpl
def tilewright_exporters() -> Iterable[Exporter]:
    """The way of applications that were written for that library's interpreter."""
    return (EXPORTER,)


@hookimpl
def tilewright_operators() -> Iterable[Operator]:
    """The microphone's front end, as that library's signal operators compute it."""
    from tilewright_tflite.signals.vocabulary import OPERATORS

    return OPERATORS


@hookimpl
def tilewright_kernels() -> Iterable[Kernel]:
    """Portable C of these operators."""
    from tilewright_tflite.signals.vocabulary import KERNELS

    return KERNELS
