"""Knows what kernels share that compute a reduction in parts: which C they need, and where their sums are.
Does not know any of their operators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tilewright.ir.code_fragments import CodeFragment, FragmentTemplate
from tilewright.ir.machines.kernel import Call, CodeFragments
from tilewright.operators.shared.windows import C_AXES, MAX_SPATIAL


def either(part: str, whole: str) -> str:
    """Mako for the call of a part, and for that of everything at once; `part` is a name that it sees."""
    return f"% if part:\n{part}% else:\n{whole}% endif\n"


def either_source(
    part: CodeFragment | FragmentTemplate, whole: CodeFragment | FragmentTemplate
) -> Callable[..., CodeFragments]:
    """The section of a part, or that of everything at once, by the value `part`; before it `conversions`."""
    return lambda values: (*values.get("conversions", ()), part if values["part"] else whole)


def sums_argument(call: Call, offsets: Mapping[str, str] = MappingProxyType({})) -> str:
    """The argument before the output: ` acc,`, moved by `offsets["ACC"]`; nothing where there are no sums."""
    return f" {call.operands['acc']}{offsets.get('ACC', '')}," if call.is_part else ""


def window_part_fields(call: Call, group_channels: int) -> Mapping[str, object]:
    """The same for windows over channels, and the strides of the sums [N, O, spatial...]."""
    if not call.is_part:
        return {}
    batch, channel, *spatial = call.operands["acc"].strides
    steps = dict(zip(C_AXES, (*(0,) * (MAX_SPATIAL - len(spatial)), *spatial), strict=True))
    return {
        **call.part_fields,
        "group_channels": group_channels,
        "acc_batch": batch,
        "acc_channel": channel,
        **{f"acc_{axis}": step for axis, step in steps.items()},
    }
