"""Knows the exporter `tflm`: two C++ headers with which an application written for TensorFlow Lite for Microcontrollers
calls the generated code. Does not know what the generated code computes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tilewright.api import usage_error

if TYPE_CHECKING:
    from tilewright.api.graph import Tensor
    from tilewright.api.stages import Allocated, Artifact, TensorParameter

_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "f32": "kTfLiteFloat32", "f64": "kTfLiteFloat64", "f16": "kTfLiteFloat16", "bool": "kTfLiteBool",
        "i8": "kTfLiteInt8", "i16": "kTfLiteInt16", "i32": "kTfLiteInt32", "i64": "kTfLiteInt64",
        "u8": "kTfLiteUInt8", "u16": "kTfLiteUInt16", "u32": "kTfLiteUInt32", "u64": "kTfLiteUInt64",
    }
)  # fmt: skip


def written(plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """`PREFIX_tflm.h`, and `tw_tflm.h`, which is the same for all networks.

    Raises TilewrightError TW1242 (exit 2) where the plan is not what an interpreter can be given in one arena.
    """
    obstacles = list(_obstacles(plan, artifact))
    if obstacles:
        raise usage_error(
            "TW1242",
            "exporter 'tflm' cannot serve this plan: an interpreter has one arena, with inputs and outputs in it",
            details=tuple(reason for reason, _ in obstacles),
            fix=(*(fix for _, fix in obstacles), "or leave tflm out of --emit, and call the functions of the header"),
        )
    return {f"{artifact.prefix}_tflm.h": _header(plan, artifact), "tw_tflm.h": _text("tw_tflm.h").encode("ascii")}


def _obstacles(plan: Allocated, artifact: Artifact) -> Iterator[tuple[str, str]]:
    """Why there is no interpreter of this plan, each with what to do."""
    target, tensors = plan.tiled.scheduled.bound.platform.name, plan.tiled.scheduled.bound.graph.tensors
    if "tw_rt.h" in artifact.headers:
        yield f"every core of '{target}' calls the network", "--target generic   (or another one with a single core)"
    elif len(artifact.pools) > 1:
        yield f"it has pools of its own for {', '.join(artifact.pools)}", "compile with one memory that is written"
    outside = [
        parameter.value for parameter in artifact.parameters if plan.decisions.io.get(parameter.value, "pool") != "pool"
    ]
    if outside:
        yield f"'{outside[0]}' is not in the plan", "compile without --io"
    if artifact.blobs and not artifact.assembled:
        yield "the application loads the constants", "compile without --const-format bin"
    for parameter in artifact.parameters:
        kind = tensors[parameter.value].dtype.value
        if kind not in _TYPES:
            yield f"'{parameter.value}' is {kind}, for which that library has no type", "export the model with float32"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """An input or output, ready for the template."""

    direction: str  # in, out
    name: str
    macro: str
    type: str
    rank: int
    quantised: bool


def _row(artifact: Artifact, parameter: TensorParameter, tensor: Tensor) -> _Row:
    direction, whole = "in" if parameter.is_input else "out", tensor.quantization
    return _Row(
        direction=direction,
        name=parameter.name,
        macro=f"{artifact.prefix}_{direction}_{parameter.name}".upper(),
        type=_TYPES[tensor.dtype.value],
        rank=len(tensor.shape),
        quantised=whole is not None and len(whole.scale) == 1,
    )


def _header(plan: Allocated, artifact: Artifact) -> bytes:
    from mako.template import Template

    tensors, pools = plan.tiled.scheduled.bound.graph.tensors, artifact.pools
    rows = [_row(artifact, parameter, tensors[parameter.value]) for parameter in artifact.parameters]
    names: dict[str, Any] = {
        "p": artifact.prefix,
        "P": artifact.prefix.upper(),
        "pool": f"{artifact.prefix}_POOL_{pools[0]}".upper() if pools else "",
        "rows": rows,
        "inputs": sum(row.direction == "in" for row in rows),
        "outputs": sum(row.direction == "out" for row in rows),
    }
    return str(Template(_text("model_tflm.mako"), strict_undefined=True).render(**names)).encode("ascii")


@cache
def _text(name: str) -> str:
    return (files("tilewright_tflite") / "text" / name).read_text(encoding="utf-8")
