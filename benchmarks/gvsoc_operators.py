"""Ten layers of every family of operators and every type of elements on GVSoC: whether each is right, what was
estimated, and what the simulated cores counted.

    python benchmarks/gvsoc_operators.py [--target snitch] [--near 128] [--families pooling,layout] [--types f16]
                                         [--count 10]

Needs GVSoC, in GVSOC_INSTALL_DIR or on PATH, and a compiler for the cluster. The layers are those of
`tilewright.testing.operator_layers`, then those of `float_layers.py` and `cortex_m_layers.py`; elements are
converted to every type that a kernel takes. Layers of a family and a type are side by side in one program,
each judged on its own inputs: FAIL is a result that is not bit-equal (integers), or outside the error model (floats).
A program that stops is one FAIL for each of its layers that stops alone, too. The last lines say how many layers are
within 25 % of their estimates, without those of `calibrated`, to which estimates were fitted.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType
from typing import Any

import cortex_m_layers
import float_layers
import numpy as np
from cortex_m_layers import Layer
from gvsoc import HOMES, NEAR, Line, judged_and_counted

from tilewright.config.options import Options
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.evaluation import results
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.plugins import load_for
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.operator_sites import refusal, site_of
from tilewright.testing.side_by_side import side_by_side
from tilewright_riscv.runners.gvsoc import GvsocRunner

FLOATS = (DType.F32, DType.F64, DType.F16, DType.BF16)
WIDE = MappingProxyType({DType.I8: DType.I16, DType.U8: DType.U16})
NEARLY = 0.25  # of an estimate
_WORDS = {
    "convolution": "Conv ConvTranspose QConv ConvInteger",
    "product": "Gemm MatMul QGemm QMatMul MatMulInteger",
    "pooling": "MaxPool AveragePool MaxPoolIndices QAveragePool",
    "normalisation": "Softmax LogSoftmax LayerNormalization RMSNormalization QSoftmax BatchNormalization",
    "reduction": "ReduceMean ReduceSum ReduceProd ReduceMax ReduceMin QReduceMean CumSum CumProd TopK ArgMax ArgMin",
    "layout": "Concat Slice Transpose Pad Reshape Gather GatherElements Scatter Arrival Departure BitCast Upsample",
    "sampling": "ResizeLinear Resample GridSample RoiAlign",
    "recurrent": "LSTMSteps GRUSteps RNNSteps",
    "elementwise": "Add Sub Mul Div Max Min Pow Mod Equal Greater GreaterOrEqual Less LessOrEqual BitwiseAnd BitwiseOr "
    "BitwiseXor BitShift And Or Xor Not Where Cast QAdd QMul QuantizeLinear DequantizeLinear",
}
FAMILY: Mapping[str, str] = {op: family for family, ops in _WORDS.items() for op in ops.split()}  # else: activation
FAMILIES = ("convolution", "depthwise", *(name for name in _WORDS if name != "convolution"), "activation")
HEAD = (
    "| family | type | layer | kernel | tiles | estimate | measured | measured / estimate | verdict |\n"
    "|---|---|---|---|---:|---:|---:|---:|---|"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A layer, its family, and what its elements are; `fitted` where estimates may have been made for it."""

    layer: Layer
    family: str
    type: str
    fitted: bool

    @property
    def key(self) -> tuple[int, str]:
        """By which cases share a program."""
        return FAMILIES.index(self.family), self.type


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What became of a case."""

    case: Case
    line: Line | None
    verdict: str

    @property
    def near(self) -> bool:
        """Whether it took about what was estimated."""
        return self.line is not None and abs(self.line.measured / max(self.line.estimate, 1) - 1) <= NEARLY

    def row(self) -> str:
        """Of the table."""
        begun = f"| {self.case.family} | {self.case.type} | {self.case.layer.name}"
        if self.line is None:
            return f"{begun} | | | | | | {self.verdict} |"
        line = self.line
        ratio = line.measured / max(line.estimate, 1)
        numbers = f"{line.tiles} | {line.estimate:,.0f} | {line.measured:,} | {ratio:.2f}"
        return f"{begun} | {line.kernels} | {numbers} | {self.verdict} |"


def main() -> int:
    """Print the tables; 1 where a layer is wrong or does not run."""
    arguments = parsed()
    if missing := GvsocRunner().available():
        sys.exit(missing)
    result: list[Found] = []
    print(HEAD, flush=True)
    for _, group in groupby(sorted(cases(arguments), key=lambda case: case.key), key=lambda case: case.key):
        for one in together([*group], arguments):
            result.append(one)
            print(one.row(), flush=True)
    print(totals(result))
    return int(any(item.verdict.startswith("FAIL") for item in result))


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="snitch", choices=tuple(NEAR))
    parser.add_argument("--near", type=float, default=128, help="KiB of the memory that kernels read")
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--types", default="", help="of elements; all without")
    parser.add_argument("--count", type=int, default=10, help="layers of a family and a type")
    return parser.parse_args()


def cases(arguments: argparse.Namespace) -> Iterator[Case]:
    """Every layer in every type that a kernel takes, each once, the collection's first."""
    kernels = load_for(target=arguments.target).kernels.values()
    numbers: Counter[tuple[str, str]] = Counter()
    for layer, fitted in collection():
        family = family_of(layer.site)
        for changed, kind in retyped(layer) if family in arguments.families.split(",") else ():
            wanted = numbers[family, kind] < arguments.count and (
                not arguments.types or kind in arguments.types.split(",")
            )
            if wanted and any(supports(kernel, changed.site) for kernel in kernels) and judged(changed):
                numbers[family, kind] += 1
                yield Case(layer=changed, family=family, type=kind, fitted=fitted and kind == "f32")


def collection() -> Iterator[tuple[Layer, bool]]:
    """The layers, and whether estimates were fitted to them."""
    for sample in every_layer():
        inputs = list(sample.inputs)
        yield cortex_m_layers.layer(sample.name, sample.op, inputs, dict(sample.attributes), sample.constants), False
    for layer in (*float_layers.judged(), *float_layers.others()):
        yield layer, False
    for layer in float_layers.calibrated():
        yield layer, True
    for layer in cortex_m_layers.layers():
        yield layer, False


def family_of(site: Site) -> str:
    """A convolution is depthwise where each group has one channel."""
    family = FAMILY.get(site.node.op, "activation")
    groups = site.node.integer("group", 1)
    return "depthwise" if family == "convolution" and groups > 1 and groups == site.input(0).shape[1] else family


def retyped(layer: Layer) -> Iterator[tuple[Layer, str]]:
    """The layer in every type of elements, and the type's name."""
    dtypes = {tensor.dtype for tensor in layer.site.inputs if tensor is not None}
    if DType.F32 in dtypes:
        ways = [({DType.F32: dtype}, dtype.value) for dtype in (*FLOATS, DType.I8, DType.I16)]
    elif dtypes & set(WIDE):
        ways = [({DType.I8: DType.I8}, "i8"), (WIDE, "i16")]
    else:
        old = layer.site.input(0).dtype
        ways = [({old: dtype}, dtype.value) for dtype in (old, *((DType.I16,) if old is DType.I32 else ()))]
    for types, name in ways:
        with contextlib.suppress(TilewrightError):  # the operator knows no result for it
            yield with_types(layer, types), name


def with_types(layer: Layer, types: Mapping[DType, DType]) -> Layer:
    """The layer with elements of other types; limits of results are those of the wider type."""
    if all(old is new for old, new in types.items()):
        return layer
    site, inputs = (
        layer.site,
        [None if array is None else converted(array, types) for array in layer.inputs],
    )
    attributes = {name: widened(name, value, types) for name, value in site.node.attributes.items()}
    constants = [at for at, tensor in enumerate(site.inputs) if tensor is not None and tensor.name in site.constants]
    return replace(layer, site=site_of(vocabulary()[site.node.op], inputs, attributes, constants), inputs=inputs)


def converted(array: Any, types: Mapping[DType, DType]) -> Any:
    """The same values, rounded where the type says so; integers instead of floats are 20 times as large, and not 0."""
    old = DType.from_numpy(array.dtype)
    wanted = types.get(old, old)
    if old.is_float and wanted.is_integer:
        rounded = np.clip(np.rint(20 * array), -128, 127)
        return np.where(rounded == 0, 1, rounded).astype(wanted.numpy)
    return array.astype(wanted.numpy)


def widened(name: str, value: Attribute, types: Mapping[DType, DType]) -> Attribute:
    """An attribute for other elements: a value among integers, limits of results of 16 bits."""
    if name == "value" and isinstance(value, float) and types.get(DType.F32, DType.F32).is_integer:
        return round(20 * value)
    if types.get(DType.I8) is not DType.I16:
        return value
    if isinstance(value, Requant):
        return replace(value, low=-32768, high=32767)
    return {"low": -32768, "high": 32767, "to": "i16"}.get(name, value)


def supports(kernel: Kernel, site: Site) -> bool:
    """What no kernel takes is refused when a network is compiled, with the reasons."""
    return kernel.op == site.node.op and refusal(kernel, site) is None


def judged(layer: Layer) -> bool:
    """Whether the operator's reference is of the layer's type; that of a Conv of float64 is not, nor is it imported."""
    answers = results(vocabulary()[layer.site.node.op], layer.site, layer.inputs)
    return all(answer.dtype == tensor.dtype.numpy for answer, tensor in zip(answers, layer.site.outputs, strict=True))


def together(chosen: Sequence[Case], arguments: argparse.Namespace) -> list[Found]:
    """Cases in one program; where it stops, in halves, so that what stops it stands alone."""
    try:
        return run(chosen, arguments)
    except TilewrightError as error:
        if len(chosen) == 1:
            return [Found(case=chosen[0], line=None, verdict=f"FAIL {error.code} {error.message[:90]}")]
    middle = len(chosen) // 2
    return [*together(chosen[:middle], arguments), *together(chosen[middle:], arguments)]


def run(chosen: Sequence[Case], arguments: argparse.Namespace) -> list[Found]:
    """One program, run with every value written out, and counted."""
    model = side_by_side([(case.layer.site, case.layer.inputs) for case in chosen])
    memory = {NEAR[arguments.target]: round(arguments.near * 1024)}
    settings = {"home": HOMES[arguments.target]} if arguments.target == "siracusa" else {}
    plan = model.deployment(arguments.target, Options(memory=memory, groups=1, settings=settings))
    verdicts, costs = judged_and_counted(model, plan)
    result = []
    for case, node in zip(chosen, model.graph.nodes, strict=True):
        verdict = verdicts.get(node.name)
        if verdict is None:
            words = "view"  # no step: its result is its input
        elif not verdict.exact:
            words = f"FAIL {verdict.different} differ, by up to {verdict.max_difference:.3g}"
        else:
            words = "exact" if verdict.bit_equal else "inside"
        result.append(Found(case=case, line=costs.get(node.name), verdict=words))
    return result


def totals(result: Sequence[Found]) -> str:
    """How many are right, and how many took about what was estimated, of each family."""
    text = ["", "| family | layers | right | measured, nothing fitted | within 25 % |", "|---|---:|---:|---:|---:|"]
    for name in (*dict.fromkeys(line.case.family for line in result), "all"):
        of_it = [line for line in result if name in (line.case.family, "all")]
        judged = [line for line in of_it if line.line is not None and not line.case.fitted]
        right = sum(not line.verdict.startswith("FAIL") for line in of_it)
        near = sum(line.near for line in judged)
        share = f" ({100 * near / len(judged):.0f} %)" if judged else ""
        text.append(f"| {name} | {len(of_it)} | {right} | {len(judged)} | {near}{share} |")
    return "\n".join(text)


if __name__ == "__main__":
    sys.exit(main())
