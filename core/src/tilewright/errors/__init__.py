"""How tilewright says no: a code, a place, a reason and the next thing to type; and what codes mean (`catalogue`).
Does not know who raises what."""

from tilewright.errors.diagnostics import (
    COLUMNS,
    Diagnostic,
    Exit,
    Refusal,
    TilewrightError,
    amended,
    demand_no_warnings,
    memory_error,
    model_error,
    plugin_error,
    toolchain_error,
    typed,
    unsupported_error,
    usage_error,
    with_fix,
)

__all__ = [
    "COLUMNS",
    "Diagnostic",
    "Exit",
    "Refusal",
    "TilewrightError",
    "amended",
    "demand_no_warnings",
    "memory_error",
    "model_error",
    "plugin_error",
    "toolchain_error",
    "typed",
    "unsupported_error",
    "usage_error",
    "with_fix",
]
