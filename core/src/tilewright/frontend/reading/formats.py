"""Knows which importer a model is for, by its bytes before its name, and asks that one. Does not know any format but
ONNX's, which is built in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from tilewright.errors import TilewrightError, model_error, usage_error
from tilewright.frontend.reading.reader import model_bytes, parse
from tilewright.frontend.reading.wire import damage, holds_graph
from tilewright.ir.graphs.model_formats import ImportedModel, Importer, Limits, Reading
from tilewright.ir.plugin_contract import demand_type, wrong_answer


def _onnx(data: bytes, reading: Reading) -> ImportedModel:
    if reading.network:
        raise usage_error(
            "TW1243",
            f"an ONNX file has one network, and none called '{reading.network}'",
            where=f"--network {reading.network}",
            fix=("leave --network out",),
        )
    return ImportedModel(model=parse(data, reading.limits))


ONNX = Importer(
    name="onnx",
    summary="ONNX, in every version that the installed package onnx knows",
    suffixes=(".onnx",),
    recognises=lambda data: not damage(data) and holds_graph(data),
    load=_onnx,
)


def is_onnx(source: Path | bytes, limits: Limits, importers: Collection[Importer] = ()) -> bool:
    """Whether it is ONNX, or none of the `importers` says that it is his: without them, whether they need be asked.
    TilewrightError (exit 3): TW1201 and TW1203 of what cannot be read, TW1240.
    """
    data = model_bytes(source, limits)
    return ONNX.recognises(data) or (bool(importers) and importer_of(data, _name(source), importers) is ONNX)


def may_be_onnx(source: Path | bytes, limits: Limits) -> bool:
    """The same of what can be read; of what cannot, this is said where it is imported."""
    try:
        return is_onnx(source, limits)
    except TilewrightError:
        return True


def _name(source: Path | bytes) -> str:
    return source.name if isinstance(source, Path) else ""


def imported_model(source: Path | bytes, reading: Reading, importers: Collection[Importer] = ()) -> ImportedModel:
    """What the file says, by ONNX or one of the `importers`. TilewrightError (exit 3 or 4) as they raise it."""
    data = model_bytes(source, reading.limits)
    importer = importer_of(data, _name(source), importers)
    owner = f"importer '{importer.name}'"
    imported = demand_type(importer.load(data, reading), ImportedModel, owner, importer.load, "load")
    if type(imported.model).__name__ != "ModelProto":
        raise wrong_answer(owner, importer.load, "load", imported.model, "an ImportedModel of an onnx.ModelProto")
    return imported


@contextmanager
def said_of_the_file(source: Path | bytes, limits: Limits) -> Iterator[None]:
    """Errors inside give no step to take with ONNX files where the model is none."""
    try:
        yield
    except TilewrightError as error:
        fix = tuple(step for step in error.fix if "onnx" not in str(step).lower())
        if len(fix) == len(error.fix) or is_onnx(source, limits):
            raise
        raise replace(error, fix=fix or ("make the model again: what its file says cannot be",)) from error


def importer_of(data: bytes, name: str, importers: Collection[Importer] = ()) -> Importer:
    """Who reads a file of these bytes and this name. TilewrightError TW1240 (exit 3) where several say that they do."""
    if ONNX.recognises(data):
        return ONNX
    others = MappingProxyType({importer.name: importer for importer in importers if importer.name != ONNX.name})
    by_bytes = [importer for importer in others.values() if importer.recognises(data)]
    by_name = [importer for importer in by_bytes or others.values() if name.lower().endswith(importer.suffixes)]
    chosen = by_name if len(by_bytes) != 1 else by_bytes
    if len(chosen) > 1 or (by_bytes and not chosen):
        suffixes = sorted({suffix for importer in by_bytes or chosen for suffix in importer.suffixes})
        raise model_error(
            "TW1240",
            f"{len(by_bytes or chosen)} importers take this file for theirs",
            details=tuple(f"{importer.name}: {importer.summary}" for importer in by_bytes or chosen),
            fix=(f"name the file by what it is ({', '.join(suffixes)})", "or uninstall the other package"),
        )
    return chosen[0] if chosen else ONNX
