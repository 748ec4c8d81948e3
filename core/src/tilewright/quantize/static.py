"""Knows how onnxruntime is asked for a statically quantised network. Does not know how good the result is."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tilewright.errors import TilewrightError, model_error, toolchain_error
from tilewright.ir.log_span import INFO, with_log_span
from tilewright.quantize.samples import NetworkInput

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

Method = Literal["minmax", "entropy", "percentile"]
Activations = Literal["int8", "uint8", "int16", "mixed"]
Weights = Literal["8", "4", "mixed"]
_OPSET_OF_BYTES, _OPSET = 0, 21  # any, as it is quantised in the one that the file has
_AS_WRITTEN = "session.disable_quant_qdq"  # of onnxruntime: floats between quantise and dequantise nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How ranges are found, and what carries the integers. Weights are symmetric. `mixed`: what is best for each."""

    method: Method = "minmax"
    activations: Activations = "int8"
    weights: Weights = "8"
    per_channel: bool = True  # a scale of the weights for each output channel

    @property
    def opset(self) -> int:
        """The first operator set of ONNX that has these types."""
        return _OPSET_OF_BYTES if self.activations in ("int8", "uint8") and self.weights == "8" else _OPSET


class Reader:
    """The samples one by one, as onnxruntime asks for them."""

    def __init__(self, samples: Sequence[Mapping[str, Array]]) -> None:
        self._samples = samples
        self.rewind()

    def get_next(self) -> Mapping[str, Array] | None:
        """The next sample; None after the last."""
        return next(self._left, None)

    def rewind(self) -> None:
        """Start again."""
        self._left = iter(self._samples)

    def __iter__(self) -> Iterator[Mapping[str, Array]]:
        return iter(self._samples)


def session(model: Path) -> Any:
    """The model in onnxruntime, node by node: fused, sums of products of bytes would saturate on some processors.

    TilewrightError TW7030 (exit 7): not installed; TW1230 (exit 3): it is refused.
    """
    try:
        import onnxruntime
    except ImportError:
        raise toolchain_error(
            "TW7030",
            "quantising needs onnxruntime, which is not installed",
            fix=("pip install 'tilewright[quantize]'",),
        ) from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry(_AS_WRITTEN, "1")
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has no base class for what it says of a model
        raise _refused(model, error) from None


def inputs_of(model: Path) -> tuple[NetworkInput, ...]:
    """The inputs of the model, as onnxruntime reads it."""
    return tuple(
        NetworkInput(name=value.name, shape=_extents(value.name, value.shape), dtype=numpy_name(value.type))
        for value in session(model).get_inputs()
    )


def _extents(name: str, shape: Sequence[int | str | None]) -> tuple[int | str, ...]:
    """An extent of which nothing is said, not even a name, is called by its place, as `--dim` calls it."""
    return tuple(f"{name}[{axis}]" if extent is None else extent for axis, extent in enumerate(shape))


def numpy_name(declared: str) -> str:
    """`tensor(float)`, as onnxruntime says it, in numpy's words."""
    element = declared.removeprefix("tensor(").removesuffix(")")
    return {"float": "float32", "double": "float64"}.get(element, element)


@with_log_span(INFO, "prepare: batch normalisations folded, shapes inferred")
def prepare(model: Path, prepared: Path, opset: int = 0) -> None:
    """Write the float network as quantisation wants it: batch normalisations folded, shapes inferred, a name for every
    node, and of operator set `opset` where its own is older. TilewrightError TW1230, TW1417 (exit 3).
    """
    import onnx
    from onnxruntime.quantization.shape_inference import quant_pre_process

    with _quiet(), _explained(model):
        quant_pre_process(str(model), str(prepared), skip_symbolic_shape=True)
    network = onnx.load(prepared)
    if next((item.version for item in network.opset_import if item.domain in ("", "ai.onnx")), opset) < opset:
        network = _raised(network, opset, model)
    for number, node in enumerate(network.graph.node):
        node.name = node.name or f"{node.op_type}_{number}"
    onnx.save(network, prepared)


def _raised(network: Any, opset: int, model: Path) -> Any:
    """The network in a newer operator set."""
    from onnx import version_converter

    try:
        return version_converter.convert_version(network, opset)
    except Exception as error:  # the converter is C++ and says what it likes
        raise model_error(
            "TW1417",
            f"this network cannot be brought to operator set {opset}, which 4 and 16 bits need",
            where=str(model),
            details=(str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__,),
            fix=(
                f"export it with operator set {opset}: torch.onnx.export(..., opset_version={opset})",
                "leave --activations and --weights as they are by default: 8 bits need no newer one",
            ),
        ) from None


@with_log_span(INFO, "quantise: ranges from the samples, scales, and the file")
def quantise(prepared: Path, quantised: Path, samples: Sequence[Mapping[str, Array]], recipe: Recipe) -> None:
    """Write the network with QuantizeLinear and DequantizeLinear (QDQ) around its layers, scales from the samples: in 8
    bits, of which a `template` makes others.
    """
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static

    methods = {
        "minmax": CalibrationMethod.MinMax,
        "entropy": CalibrationMethod.Entropy,
        "percentile": CalibrationMethod.Percentile,
    }
    with _quiet(), _explained(prepared):
        quantize_static(
            str(prepared),
            str(quantised),
            Reader(samples),
            quant_format=QuantFormat.QDQ,
            per_channel=recipe.per_channel,
            activation_type=QuantType.QUInt8 if recipe.activations == "uint8" else QuantType.QInt8,
            weight_type=QuantType.QInt8,
            calibrate_method=methods[recipe.method],
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """onnxruntime logs advice about how it was called through the root logger."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


@contextmanager
def _explained(model: Path) -> Iterator[None]:
    try:
        yield
    except TilewrightError:
        raise
    except Exception as error:  # onnxruntime has no base class for what it says of a model
        raise _refused(model, error) from None


def _refused(model: Path, error: Exception) -> TilewrightError:
    return model_error(
        "TW1230",
        "onnxruntime cannot quantise this network",
        where=str(model),
        details=(str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__,),
        fix=("give a float network that onnxruntime runs", "quantise it where it was trained, and export it as QDQ"),
    )
