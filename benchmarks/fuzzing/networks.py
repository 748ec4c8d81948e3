"""Networks that nobody has tuned for: drawn by a seed, quantised by onnxruntime, compiled, run, compared step by step.

Each seed is one network in five forms: float, and int8 or uint8, per channel or per tensor, as QDQ or as quantised
operators. A line a form: steps, how many differ from the numpy reference (must be none), the largest difference of an
output from onnxruntime's in steps of its scale, memories. Needs onnxruntime.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fuzzing.frame import Fuzz, Outcome, machine_flags, machine_options

Array = np.ndarray
CALIBRATION_SETS = 6
FORMS = (  # name, format, activations, weights, per channel
    ("qdq_i8_pc", "QDQ", "QInt8", "QInt8", True),
    ("qdq_u8_pt", "QDQ", "QUInt8", "QInt8", False),
    ("qop_u8_pt", "QOperator", "QUInt8", "QUInt8", False),
    ("qop_i8_pc", "QOperator", "QInt8", "QInt8", True),
)


class Draft:
    """A float network that is being drawn. Values are names; `shape` knows what they are (batch of one)."""

    def __init__(self, seed: int) -> None:
        self.chance, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.shape: dict[str, tuple[int, ...]] = {}

    def constant(self, value: Any) -> str:
        """An initialiser."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op: str, inputs: Sequence[str], shape: Sequence[int], **attributes: Any) -> str:
        """A node with one output."""
        number = len(self.nodes)
        name = f"layer{number}/{op.lower()}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], f"layer{number}/{op}", **attributes))
        self.shape[name] = tuple(shape)
        return name

    def normal(self, shape: Sequence[int], scale: float = 1.0) -> str:
        """A float constant."""
        return self.constant((self.numbers.standard_normal(tuple(shape)) * scale).astype(np.float32))

    def conv(self, x: str, channels: int, kernel: Sequence[int], groups: int = 1, **attributes: Any) -> str:
        """A convolution with bias; strides, pads and dilations as given."""
        taken, spatial = self.shape[x][1] // groups, self.shape[x][2:]
        rank = len(kernel)
        strides = attributes.setdefault("strides", [1] * rank)
        pads = attributes.setdefault("pads", [0] * 2 * rank)
        dilations = attributes.setdefault("dilations", [1] * rank)
        out = [
            (spatial[i] + pads[i] + pads[i + rank] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1
            for i in range(rank)
        ]
        weights = self.normal((channels, taken, *kernel), float(1 / np.sqrt(taken * np.prod(kernel))))
        bias = self.normal((channels,), 0.1)
        return self.node(
            "Conv", [x, weights, bias], (1, channels, *out), kernel_shape=list(kernel), group=groups, **attributes
        )

    def activation(self, x: str) -> str:
        """One of the usual ones, or none."""
        kind = self.chance.choice(["Relu", "Relu", "Clip", "LeakyRelu", "HardSwish", "Sigmoid", "Tanh", ""])
        shape = self.shape[x]
        if kind == "Clip":
            return self.node("Clip", [x, self.constant(np.float32(0)), self.constant(np.float32(6))], shape)
        if kind == "LeakyRelu":
            return self.node("LeakyRelu", [x], shape, alpha=0.1)
        return self.node(kind, [x], shape) if kind else x

    def dense(self, x: str, features: int) -> str:
        """A fully connected layer over the last axis."""
        taken = self.shape[x][-1]
        weights, bias = self.normal((taken, features), float(1 / np.sqrt(taken))), self.normal((features,), 0.1)
        return self.node("Gemm", [x, weights, bias], (1, features))

    def model(self, output: str, shape: Sequence[int]) -> Any:
        """The whole, checked."""
        taken = [helper.make_tensor_value_info("in", TensorProto.FLOAT, list(shape))]
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, list(self.shape[output]))]
        graph = helper.make_graph(self.nodes, "random", taken, outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        onnx.checker.check_model(model)
        return model


def _plain(draft: Draft, x: str) -> str:
    kernel = draft.chance.choice([(3, 3), (1, 1), (5, 5), (3, 1), (2, 3)])
    stride, dilation = draft.chance.choice([1, 1, 2]), draft.chance.choice([1, 1, 1, 2])
    pads = [draft.chance.randint(0, side // 2 * dilation) for side in (*kernel, *kernel)]
    x = draft.conv(x, draft.chance.randint(3, 24), kernel, strides=[stride] * 2, pads=pads, dilations=[dilation] * 2)
    return draft.activation(x)


def _separable(draft: Draft, x: str) -> str:
    channels, side = draft.shape[x][1], draft.chance.choice([3, 3, 5])
    stride = draft.chance.choice([1, 2])
    x = draft.conv(x, channels, (side, side), channels, strides=[stride] * 2, pads=[side // 2] * 4)
    x = draft.activation(x)
    return draft.activation(draft.conv(x, draft.chance.randint(4, 32), (1, 1)))


def _residual(draft: Draft, x: str) -> str:
    channels = draft.shape[x][1]
    y = draft.activation(draft.conv(x, draft.chance.randint(3, 20), (1, 1)))
    y = draft.conv(y, channels, (3, 3), pads=[1] * 4)
    return draft.activation(draft.node(draft.chance.choice(["Add", "Add", "Sub"]), [y, x], draft.shape[x]))


def _squeezed(draft: Draft, x: str) -> str:
    channels = draft.shape[x][1]
    y = draft.node("GlobalAveragePool", [x], (1, channels, 1, 1))
    y = draft.node("Relu", [draft.conv(y, max(2, channels // 4), (1, 1))], (1, max(2, channels // 4), 1, 1))
    y = draft.node("Sigmoid", [draft.conv(y, channels, (1, 1))], (1, channels, 1, 1))
    return draft.node("Mul", [x, y], draft.shape[x])


def _branches(draft: Draft, x: str) -> str:
    left = draft.activation(draft.conv(x, draft.chance.randint(2, 9), (3, 3), pads=[1] * 4))
    right = draft.conv(x, draft.chance.randint(2, 9), (1, 1))
    channels = draft.shape[left][1] + draft.shape[right][1]
    return draft.node("Concat", [left, right], (1, channels, *draft.shape[x][2:]), axis=1)


def _pooled(draft: Draft, x: str) -> str:
    kind, side = draft.chance.choice(["MaxPool", "AveragePool"]), draft.chance.choice([2, 3])
    ceil = draft.chance.choice([0, 1])
    shape = draft.shape[x]
    out = [(length - side + (1 if ceil else 0)) // 2 + 1 for length in shape[2:]]
    return draft.node(kind, [x], (*shape[:2], *out), kernel_shape=[side] * 2, strides=[2, 2], ceil_mode=ceil)


BLOCKS: tuple[Callable[[Draft, str], str], ...] = (_plain, _separable, _residual, _squeezed, _branches, _pooled)


def image_network(seed: int) -> tuple[Any, tuple[int, ...]]:
    """Blocks over an image, then pooled or flattened, a layer or two, perhaps Softmax."""
    draft = Draft(seed)
    shape = (1, draft.chance.choice([1, 3, 4]), draft.chance.randint(11, 28), draft.chance.randint(11, 28))
    draft.shape["in"] = shape
    x = _plain(draft, "in")
    for _ in range(draft.chance.randint(2, 6)):
        blocks = BLOCKS if min(draft.shape[x][2:]) >= 6 else BLOCKS[2:5]
        x = draft.chance.choice(blocks)(draft, x)
    if draft.chance.random() < 0.6:
        x = draft.node("GlobalAveragePool", [x], (*draft.shape[x][:2], 1, 1))
    x = draft.node("Flatten", [x], (1, int(np.prod(draft.shape[x]))))
    x = draft.dense(x, draft.chance.randint(2, 12))
    if draft.chance.random() < 0.5:
        x = draft.node("Softmax", [x], draft.shape[x], axis=-1)
    return draft.model(x, shape), shape


def signal_network(seed: int) -> tuple[Any, tuple[int, ...]]:
    """One-dimensional convolutions over a signal, means over time."""
    draft = Draft(seed)
    shape = (1, draft.chance.randint(1, 4), draft.chance.randint(40, 200))
    draft.shape["in"] = shape
    x = draft.activation(draft.conv("in", draft.chance.randint(4, 16), (5,), strides=[2], pads=[2, 2]))
    for _ in range(draft.chance.randint(1, 4)):
        dilation = draft.chance.choice([1, 2, 4])
        y = draft.conv(x, draft.shape[x][1], (3,), dilations=[dilation], pads=[dilation, dilation])
        x = draft.node("Add", [draft.activation(y), x], draft.shape[x])
    x = draft.node("ReduceMean", [x], draft.shape[x][:2], axes=[2], keepdims=0)
    return draft.model(draft.dense(x, draft.chance.randint(2, 9)), shape), shape


def attention_network(seed: int) -> tuple[Any, tuple[int, ...]]:
    """Blocks of attention with one to four heads, and a layer for every place."""
    draft = Draft(seed)
    heads, each, places = draft.chance.choice([1, 2, 4]), draft.chance.choice([4, 8]), draft.chance.randint(5, 24)
    width = heads * each
    shape = (1, places, width)
    draft.shape["in"] = shape

    def projected(x: str, features: int) -> str:
        weights = draft.normal((draft.shape[x][-1], features), float(1 / np.sqrt(draft.shape[x][-1])))
        y = draft.node("MatMul", [x, weights], (1, places, features))
        return draft.node("Add", [y, draft.normal((features,), 0.1)], (1, places, features))

    def split(x: str, perm: Sequence[int], out: Sequence[int]) -> str:
        y = draft.node("Reshape", [x, draft.constant(np.array([1, places, heads, each]))], (1, places, heads, each))
        return draft.node("Transpose", [y], out, perm=list(perm))

    x = "in"
    for _ in range(draft.chance.randint(1, 2)):
        query = split(projected(x, width), (0, 2, 1, 3), (1, heads, places, each))
        key = split(projected(x, width), (0, 2, 3, 1), (1, heads, each, places))
        value = split(projected(x, width), (0, 2, 1, 3), (1, heads, places, each))
        scores = draft.node("MatMul", [query, key], (1, heads, places, places))
        scores = draft.node("Div", [scores, draft.constant(np.float32(np.sqrt(each)))], (1, heads, places, places))
        scores = draft.node("Softmax", [scores], (1, heads, places, places), axis=-1)
        mixed = draft.node("MatMul", [scores, value], (1, heads, places, each))
        mixed = draft.node("Transpose", [mixed], (1, places, heads, each), perm=[0, 2, 1, 3])
        mixed = draft.node("Reshape", [mixed, draft.constant(np.array([1, places, width]))], shape)
        x = draft.node("Add", [x, projected(mixed, width)], shape)
        hidden = draft.node("Relu", [projected(x, 2 * width)], (1, places, 2 * width))
        x = draft.node("Add", [x, projected(hidden, width)], shape)
    return draft.model(x, shape), shape


FAMILIES = (image_network, image_network, signal_network, attention_network)


def write_networks(seed: int, folder: Path) -> Iterator[Path]:
    """The network of a seed in all its forms."""
    import logging

    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

    model, shape = FAMILIES[seed % len(FAMILIES)](seed)
    plain = folder / f"net{seed}_f32.onnx"
    onnx.save(model, plain)
    yield plain
    logging.disable(logging.WARNING)
    for name, form, activations, weights, per_channel in FORMS:
        file = folder / f"net{seed}_{name}.onnx"
        quantize_static(
            plain,
            file,
            _reader(shape, seed),
            quant_format=QuantFormat[form],
            activation_type=QuantType[activations],
            weight_type=QuantType[weights],
            per_channel=per_channel,
        )
        yield file


def _reader(shape: Sequence[int], seed: int) -> Any:
    from onnxruntime.quantization import CalibrationDataReader

    class Reader(CalibrationDataReader):
        def __init__(self) -> None:
            numbers = np.random.default_rng(seed)
            self.sets = iter([{"in": numbers.standard_normal(shape).astype("f4")} for _ in range(CALIBRATION_SETS)])

        def get_next(self) -> Mapping[str, Array] | None:
            return next(self.sets, None)

    return Reader()


class Run(NamedTuple):
    """A network that was compiled and run: its plan, what went in and came out, steps that were judged, wrong ones."""

    plan: Any
    sets: Sequence[Any]
    outputs: Sequence[Any]
    judged: int
    wrong: list[str]


def run_of(file: Path, target: str, runner_name: str, options: Any, count: int) -> Run:
    """With so many sets of random inputs. TilewrightError where there is no program, or it fails."""
    from tilewright.comparison.vectors import random_vectors
    from tilewright.comparison.verdicts import judge_steps
    from tilewright.deployment import Deployment
    from tilewright.ir.programs.runner import Job
    from tilewright.plugins import load_named

    runner = load_named(("runner", runner_name)).runners[runner_name]
    plan = Deployment(file, target, options)
    sets = tuple(vector.inputs for vector in random_vectors(plan.inputs, count, 7))
    job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=sets, trace=True)
    with tempfile.TemporaryDirectory() as folder:
        result = runner.run(job, Path(folder))
    graph, steps = plan.scheduled.bound.graph, [step.name for step in plan.scheduled.steps]
    verdicts = judge_steps(graph, steps, plan.registry.operators, sets, result.values)
    wrong = [f"{verdict.name} ({verdict.op})" for verdict in verdicts if not verdict.exact]
    return Run(plan, sets, result.outputs, len(verdicts), wrong)


def judged(file: Path, target: str, runner_name: str, options: Any) -> tuple[str, bool]:
    """What running the network gave, and whether every step is what it should be."""
    import onnxruntime

    run = run_of(file, target, runner_name, options, 2)
    onnxruntime.set_default_logger_severity(4)
    exactly = onnxruntime.SessionOptions()
    exactly.add_session_config_entry("session.disable_quant_qdq", "1")  # sums of products do not saturate
    peer = onnxruntime.InferenceSession(str(file), exactly, providers=["CPUExecutionProvider"])
    apart = 0.0
    for inputs, made in zip(run.sets, run.outputs, strict=True):
        for mine, theirs in zip(made.values(), peer.run(None, dict(inputs)), strict=True):
            apart = max(apart, float(np.max(np.abs(mine.astype(float) - theirs.astype(float)), initial=0)))
    pools = ", ".join(f"{pool.memory} {pool.used_bytes:,}" for pool in run.plan.allocated.pools)
    text = f"{run.judged} steps, {len(run.wrong)} wrong {run.wrong or ''} onnxruntime {apart:.3g} apart; {pools}"
    return text, not run.wrong and run.judged > 0


def flags(parser: argparse.ArgumentParser) -> None:
    """Where programs run."""
    machine_flags(parser, "generic")
    parser.add_argument("--on", default="host")


def outcomes(seeds: Sequence[int], arguments: argparse.Namespace, folder: Path) -> Iterator[Outcome]:
    """What became of the networks in all their forms."""
    from tilewright.errors import TilewrightError

    for file in (file for seed in seeds for file in write_networks(seed, folder)):
        try:
            text, good = judged(file, arguments.target, arguments.on, machine_options(arguments))
        except TilewrightError as error:
            text, good = str(error), False
        yield Outcome(file.stem, "right" if good else "failed", "" if good else text, note=text if good else "")


FUZZ = Fuzz(about=__doc__ or "", outcomes=outcomes, flags=flags)
