"""tilewright: ONNX in, C out, for machines whose memory is placed by hand.

d = tilewright.compile("model.onnx", "cortex-m4", memory={"ram": "64K"})
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright.errors import TilewrightError
    from tilewright.exploration.estimate import Estimate, estimate
    from tilewright.exploration.sweep.sweep import Sweep, sweep
    from tilewright.front_door.compilation import Compiled, compile
    from tilewright.validation.validation import Validation

__version__ = "0.1.0"
__all__ = [
    "Compiled",
    "Estimate",
    "Sweep",
    "TilewrightError",
    "Validation",
    "__version__",
    "compile",
    "estimate",
    "sweep",
]

_HOMES = {
    "Compiled": "tilewright.front_door.compilation",
    "Estimate": "tilewright.exploration.estimate",
    "Sweep": "tilewright.exploration.sweep.sweep",
    "TilewrightError": "tilewright.errors",
    "Validation": "tilewright.validation.validation",
    "compile": "tilewright.front_door.compilation",
    "estimate": "tilewright.exploration.estimate",
    "sweep": "tilewright.exploration.sweep.sweep",
}


def __getattr__(name: str) -> object:
    """What is imported only when it is asked for: a plugin or a command needs none of it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tilewright' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
