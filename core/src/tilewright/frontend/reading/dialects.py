"""Knows which dialect an ONNX file is written in, and asks that one what it means.
Does not know any dialect, nor how files are read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tilewright.errors import model_error
from tilewright.frontend.reading.import_options import ImportOptions
from tilewright.ir.graphs.model_formats import Dialect, ImportedModel
from tilewright.ir.plugin_contract import demand_type, wrong_answer
from tilewright.ir.tensors.dtypes import DType


def translated(imported: ImportedModel, dialects: Collection[Dialect], options: ImportOptions) -> ImportedModel:
    """What the model means: as it is, or as the one dialect says that it is written in.

    TilewrightError TW1250 (exit 3) where several say that it is theirs; what `Dialect.translate` raises.
    """
    types = _asked(imported.model, options)
    speaking = [dialect for dialect in dialects if dialect.speaks(imported.model, types)]
    if not speaking:
        return imported
    if len(speaking) > 1:
        raise model_error(
            "TW1250",
            f"{len(speaking)} dialects take this file for theirs",
            details=tuple(f"{dialect.name}: {dialect.summary}" for dialect in speaking),
            fix=("uninstall one of the packages: `tilewright plugins list` shows them",),
        )
    (dialect,) = speaking
    owner = f"dialect '{dialect.name}'"
    answer = dialect.translate(imported.model, types, options.limits)
    result = demand_type(answer, ImportedModel, owner, dialect.translate, "translate")
    if type(result.model).__name__ != "ModelProto":
        raise wrong_answer(
            owner, dialect.translate, "translate", result.model, "an ImportedModel of an onnx.ModelProto"
        )
    return result


def _asked(model: Any, options: ImportOptions) -> Mapping[str, DType]:
    """The types that are asked for, of the inputs and outputs that the model has."""
    names = [value.name for value in (*model.graph.input, *model.graph.output)]
    everywhere = {} if options.io_type is None else dict.fromkeys(names, options.io_type)
    return {**everywhere, **{name: dtype for name, dtype in options.io_type_of.items() if name in names}}
