"""Knows what `tilewright quantize` says of a network beside its accuracy: that it is quantised already, and that little
is gained where weights stay float. Does not know how networks are quantised.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Literal

from tilewright.errors import Diagnostic, TilewrightError, model_error, typed

if TYPE_CHECKING:
    from tilewright.frontend.reading.file_model import FileModel, FileNode
    from tilewright.quantize.stored_recurrences import Written

# Operators, and what begins as they do.
_INTEGER = ("QLinear", "QuantizeLinear", "DequantizeLinear", "DynamicQuantize", "QGemm", "QAttention")
_OF_INTEGERS = frozenset(("ConvInteger", "MatMulInteger", "MatMulNBits"))
_FLOAT = 1  # TensorProto.FLOAT
_FLOAT_BYTES = 4
_SHARE = 0.5  # of the bytes of weights: with more of them in float, little is gained
_SHOWN = 4


def demand_float(model: bytes, file: str) -> None:
    """TilewrightError TW1231 (exit 3) where the network quantises, or computes on integers, already."""
    counter = Counter(node.op_type for node in _read(model).graph.nodes if _is_integer(node))
    if counter:
        raise _quantised_already(counter, file)


def _quantised_already(counter: Counter[str], file: str) -> TilewrightError:
    names = ", ".join(f"{count} {op}" for op, count in counter.most_common(_SHOWN))
    return model_error(
        "TW1231",
        "this network is quantised already",
        where=file,
        details=(f"it has {names}",),
        fix=(
            typed("tilewright", "check", file, "--target", "generic", gives="takes it as it is"),
            "to quantise it otherwise, give the float network that it was made of",
        ),
    )


def weight_notes(quantised: bytes) -> tuple[Diagnostic, ...]:
    """A warning TW3005 where half of the bytes of weights or more are still float."""
    graph = _read(quantised).graph
    weights = {tensor.name: tensor for tensor in graph.initializers if len(tensor.dims) > 1}
    whole = sum(_bytes(tensor.data_type == _FLOAT, tensor.dims) for tensor in weights.values())
    kept: Counter[str] = Counter()
    for node in graph.nodes:
        for name in dict.fromkeys(node.inputs):
            if name in weights and weights[name].data_type == _FLOAT and not _is_integer(node):
                kept[node.op_type] += _bytes(True, weights[name].dims)
    stays = sum(kept.values())
    if not whole or stays < _SHARE * whole:
        return ()
    names = ", ".join(f"{op} ({size:,} B)" for op, size in kept.most_common(_SHOWN))
    return (
        Diagnostic(
            code="TW3005",
            severity="warning",
            message=f"little is gained: {stays:,} of {whole:,} bytes of weights stay float",
            details=(f"those of {names}",),
            fix=(
                "compile the float network: it is as large, and exact",
                *(("or add --recurrent int8",) if kept.keys() & {"GRU", "LSTM"} else ()),
            ),
        ),
    )


def recurrent_notes(written: Written | None) -> tuple[Diagnostic, ...]:
    """A warning TW3031 for each reason why a recurrent layer stays float though integers were asked for, and a note
    TW3032 on those that are integers; nothing where none was asked for."""
    if written is None:
        return ()
    if not written.integers and not written.left:
        return (_recurrent("warning", "TW3031", "--recurrent changes nothing: the network has no LSTM or GRU", ""),)
    reasons: dict[str, list[str]] = {}
    for name, reason in written.left.items():
        reasons.setdefault(reason, []).append(name)
    kept = tuple(
        _recurrent("warning", "TW3031", f"a recurrent layer stays float: {reason}", ", ".join(names[:_SHOWN]))
        for reason, names in reasons.items()
    )
    if not written.integers:
        return kept
    said = "is integers where it is compiled; onnxruntime, and so the accuracy here, computes it in float between them"
    return (*kept, _recurrent("note", "TW3032", said, ", ".join(written.integers[:_SHOWN])))


def _recurrent(severity: Literal["note", "warning"], code: str, message: str, where: str) -> Diagnostic:
    fix = ("leave --recurrent out", "or accept it") if code == "TW3031" else ()
    told = "`tilewright validate` says what the integers change: the pass lower-recurrences"
    return Diagnostic(code=code, severity=severity, message=message, where=where, fix=fix or (told,))


def _read(model: bytes) -> FileModel:
    from tilewright.frontend.reading.reader import read_model
    from tilewright.ir.graphs.model_formats import Limits

    return read_model(model, Limits(file_bytes=len(model), constant_bytes=max(1, len(model)), tensor_bytes=len(model)))


def _is_integer(node: FileNode) -> bool:
    return node.op_type.startswith(_INTEGER) or node.op_type in _OF_INTEGERS


def _bytes(is_float: bool, dims: tuple[int, ...]) -> int:
    return math.prod(dims) * (_FLOAT_BYTES if is_float else 1)
