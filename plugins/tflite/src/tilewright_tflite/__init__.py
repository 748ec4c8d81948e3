"""TensorFlow Lite files for tilewright: what the plugin offers. Does not know how they are read."""

from __future__ import annotations

from collections.abc import Iterable

from tilewright.api import hookimpl
from tilewright.api.importer import ImportedModel, Importer, Limits


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


@hookimpl
def tilewright_importers() -> Iterable[Importer]:
    """The format of .tflite files."""
    return (IMPORTER,)
