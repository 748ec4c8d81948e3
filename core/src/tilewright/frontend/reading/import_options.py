"""Knows what a user may choose about reading a model: values of symbolic dimensions and limits (`--limit`).
Does not know how a model is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from tilewright.errors import typed, usage_error
from tilewright.errors.suggestions import did_you_mean
from tilewright.ir.graphs.model_formats import Limits, Reading
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.dtypes import DType

_MIB = 1 << 20


LIMITS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "tensor": ("tensor_bytes",),
        "constants": ("constant_bytes",),
        "folded": ("fold_bytes", "fold_total_bytes"),
        "file": ("file_bytes",),
        "nodes": ("nodes", "unrolled"),
        "steps": ("steps",),
        "initializers": ("initializers",),
    }
)  # name in `--limit` -> fields of Limits


def limits_with(amounts: Mapping[str, int], limits: Limits | None = None) -> Limits:
    """The `limits` with the amounts of `--limit` in place. TilewrightError TW1101 (exit 2) for an unknown name."""
    for name in amounts:
        if name not in LIMITS:
            raise usage_error(
                "TW1101",
                f"there is no limit '{name}'",
                details=(f"limits are {', '.join(LIMITS)}", *did_you_mean(name, LIMITS)),
                fix=(typed("--limit", f"tensor={amounts[name]}"),),
            )
    fields = {field_name: amount for name, amount in amounts.items() for field_name in LIMITS[name]}
    return replace(limits or Limits(), **fields)


def raised(name: str, needed: int) -> str:
    """What to type so that `needed` is inside a limit; bytes are rounded up to whole MiB."""
    return raised_together({name: needed})


def raised_together(needed: Mapping[str, int]) -> str:
    """The same for several limits, by name."""
    amounts = {
        name: str(amount) if name in ("nodes", "steps", "initializers") else f"{ceil_div(amount, _MIB)}M"
        for name, amount in needed.items()
    }
    flags = (word for name, amount in amounts.items() for word in ("--limit", f"{name}={amount}"))
    return typed(*flags, gives="if you trust the file")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """`dims` gives values to symbolic dimensions (`--dim`), `bind` makes inputs constants (`--bind`), `network` names
    one of those of a file (`--network`). Files that the model keeps its tensors in: `allow_external` None takes those
    right beside it, True those in folders below, too (`--allow-external`), False none (`--no-external`). `io_type` and
    `io_type_of` are the types that are asked for of all inputs and outputs, and of single ones (`--io-type`): what
    dialects make of files that do not say any. `states` are the flags `--state`: an initialiser that one of them names
    is an input which begins with its elements.
    """

    dims: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    bind: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    allow_external: bool | None = None
    limits: Limits = field(default_factory=Limits)
    states: tuple[str, ...] = ()
    io_type: DType | None = None
    io_type_of: Mapping[str, DType] = field(default_factory=lambda: MappingProxyType({}))
    network: str = ""

    @property
    def reading(self) -> Reading:
        """What importers are told."""
        return Reading(limits=self.limits, network=self.network)
