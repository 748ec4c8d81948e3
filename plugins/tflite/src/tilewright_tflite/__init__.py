"""TensorFlow Lite files for tilewright: what the plugin offers. Does not know how they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tilewright.api import hookimpl
from tilewright.api.exporter import Exporter
from tilewright.api.importer import ImportedModel, Importer, Limits

if TYPE_CHECKING:
    from tilewright.api.stages import Allocated, Artifact


def _recognises(data: bytes) -> bool:
    return data[4:8] == b"TFL3"


def _load(data: bytes, limits: Limits) -> ImportedModel:
    from tilewright_tflite.importing import load

    return load(data, limits)


IMPORTER = Importer(
    name="tflite",
    summary="TensorFlow Lite, as TensorFlow Lite for Microcontrollers runs it",
    suffixes=(".tflite",),
    recognises=_recognises,
    load=_load,
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
