"""Knows that an input that `--bind` makes a constant is none for other flags. Does not know how it is bound."""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.config.options import Options
from tilewright.errors import usage_error


def bound_inputs(options: Options) -> Mapping[str, str]:
    """What `--bind` says. TilewrightError TW1226 (exit 2) where another flag takes one of these for an input."""
    for name, value in options.bind.items():
        if others := _about(name, options):
            raise usage_error(
                "TW1226",
                f"'{name}' cannot be an input and a constant: --bind makes it a constant",
                where=f"--bind {name}={value}",
                details=tuple(f"{other} takes it for an input" for other in others),
                fix=(f"leave out --bind {name}, or what takes it for an input",),
            )
    return options.bind


def _about(name: str, options: Options) -> tuple[str, ...]:
    """The other flags that name this input."""
    states = [f"--state {text}" for text in options.states if text.endswith(f":{name}") or f":{name}=" in text]
    ends = [f"--io {name}={options.io_of[name]}"] if name in options.io_of else []
    types = [f"--io-type {name}={options.io_type_of[name]}"] if name in options.io_type_of else []
    return (*states, *ends, *types)
