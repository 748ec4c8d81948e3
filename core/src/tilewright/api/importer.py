"""For authors of importers.

Model files of other formats than ONNX: who recognises one, within which limits it is read, and what it says.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.ir.graphs.model_formats import (
    Dialect,
    FormatRuntime,
    ImportedModel,
    Importer,
    KeptState,
    Limits,
    Reading,
)

__all__ = ["Dialect", "FormatRuntime", "ImportedModel", "Importer", "KeptState", "Limits", "Reading"]
