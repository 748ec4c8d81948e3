"""For everybody.

The mark of a hook, the errors that a user reads, and rounding to whole steps. What an author writes has a layer of its
own: a plugin imports the layers that it needs, and nothing else of tilewright.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.errors import (
    Diagnostic,
    Exit,
    Refusal,
    TilewrightError,
    memory_error,
    model_error,
    plugin_error,
    toolchain_error,
    unsupported_error,
    usage_error,
)
from tilewright.ir.plugin_contract import hookimpl
from tilewright.ir.rounding import align_down, align_up, ceil_div

__all__ = [
    "Diagnostic",
    "Exit",
    "Refusal",
    "TilewrightError",
    "align_down",
    "align_up",
    "ceil_div",
    "hookimpl",
    "memory_error",
    "model_error",
    "plugin_error",
    "toolchain_error",
    "unsupported_error",
    "usage_error",
]
