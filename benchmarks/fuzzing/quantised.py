"""The collection of quantised models: seeds 0 to 312 are twelve kinds of networks in each of 26 forms, and later seeds
are others of the same.

A form is a quantiser (Q and DQ around everything; `tilewright quantize` in its widths; onnxruntime's, as QDQ, as
quantised operators, or dynamic) and an arithmetic. Each is compiled and run: every step is what its declared arithmetic
says, those of integers, and those of dynamic quantisation, bit for bit. The table counts, by kind and by form: steps,
those that are integers, those that are float between integers, and models that have such. Needs onnxruntime.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from fuzzing.frame import Fuzz, Outcome, machine_flags, machine_options
from fuzzing.networks import image_network, signal_network
from tests.kit.qdq_blocks import BLOCKS
from tests.kit.qdq_draft import Draft
from tests.kit.qdq_networks import between

Array = np.ndarray
SAMPLES, SETS = 6, 2
DYNAMIC = "runtime dynamic"  # the form of which everything else is meant to be float
_EXACT = frozenset(("ConvInteger", "DynamicQuantizeLinear", "MatMulInteger"))  # bit for bit, though they write floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A float network as a file, and what its inputs look like; of one that was written down, with Q and DQ too."""

    file: Path
    shapes: Mapping[str, Sequence[int]]
    by_hand: bytes = b""


Maker = Callable[[Written, Sequence[Mapping[str, Array]], Path], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a network comes to be integers, and what they are computed with."""

    name: str
    make: Maker
    arithmetic: str


def _by_hand(network: Written, samples: Sequence[Mapping[str, Array]], file: Path) -> None:
    if network.by_hand:
        file.write_bytes(network.by_hand)
    else:
        _by_runtime("QDQ", "QInt8", "QInt8")(network, samples, file)


def _own(activations: str = "int8", weights: str = "8", *, per_channel: bool = True) -> Maker:
    """`tilewright quantize`, with recurrent layers of as many bits as the others."""

    def make(network: Written, samples: Sequence[Mapping[str, Array]], file: Path) -> None:
        from tilewright.cli.quantize_making import make as made_of
        from tilewright.quantize.samples import Samples
        from tilewright.quantize.static import Recipe
        from tilewright.quantize.stored_recurrences import quantise_recurrent

        recipe = Recipe(activations=activations, weights=weights, per_channel=per_channel)  # type: ignore[arg-type]
        calibration = Samples(inputs=tuple(samples))
        made = made_of(network.file, recipe, None, calibration, calibration)
        quantise_recurrent(made.prepared, made.file, samples, "int16" if activations == "int16" else "int8")
        file.write_bytes(made.file.read_bytes())

    return make


def _by_runtime(form: str, activations: str, weights: str, *, per_channel: bool = False) -> Maker:
    """onnxruntime's static quantisation, with onnxruntime's own Q and DQ of 16 bits."""

    def make(network: Written, samples: Sequence[Mapping[str, Array]], file: Path) -> None:
        from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

        from tilewright.quantize.static import Reader, prepare

        prepared = network.file.with_name("prepared.onnx")
        prepare(network.file, prepared)
        options = {"UseQDQContribOps": "16" in activations, "ForceQuantizeNoInputCheck": form == "QOperator"}
        quantize_static(
            prepared, file, Reader(samples),
            quant_format=QuantFormat[form], activation_type=QuantType[activations], weight_type=QuantType[weights],
            per_channel=per_channel, extra_options=options,
        )  # fmt: skip

    return make


def _dynamic(network: Written, samples: Sequence[Mapping[str, Array]], file: Path) -> None:
    """onnxruntime's dynamic quantisation: scales of activations are found while the network runs."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    from tilewright.quantize.static import prepare

    prepared = network.file.with_name("prepared.onnx")
    prepare(network.file, prepared)
    both = {"MatMulConstBOnly": False}
    quantize_dynamic(prepared, file, ["MatMul", "Gemm", "Conv"], weight_type=QuantType.QUInt8, extra_options=both)


def _forms() -> Iterator[Form]:
    makers = {
        "by hand": _by_hand,
        "own int8": _own(),
        "runtime QDQ int8": _by_runtime("QDQ", "QInt8", "QInt8", per_channel=True),
        "runtime operators uint8": _by_runtime("QOperator", "QUInt8", "QUInt8"),
        "own int16": _own("int16"),
        "own int8, weights of 4": _own("int8", "4"),
        "runtime QDQ uint8": _by_runtime("QDQ", "QUInt8", "QInt8"),
        "own int16, weights of 4": _own("int16", "4"),
        "own uint8": _own("uint8"),
        "own int8, one scale": _own(per_channel=False),
        "runtime operators int8": _by_runtime("QOperator", "QInt8", "QInt8", per_channel=True),
        "runtime QDQ int16": _by_runtime("QDQ", "QInt16", "QInt8"),
        "runtime QDQ uint16": _by_runtime("QDQ", "QUInt16", "QUInt8"),
    }
    for name, make in makers.items():
        yield Form(name=name, make=make, arithmetic="onnx")
    for arithmetic, count in (("tflm", 6), ("pulp-shift", 6)):
        for name in list(makers)[:count]:
            yield Form(name=name, make=makers[name], arithmetic=arithmetic)
    yield Form(name=DYNAMIC, make=_dynamic, arithmetic="onnx")


FORMS = tuple(_forms())
KINDS = (*BLOCKS, "image", "signal")


def float_network(kind: str, seed: int, folder: Path) -> Written:
    """A network of this kind, in floats."""
    import onnx

    file = folder / "network.onnx"
    if kind in BLOCKS:
        draft = Draft(random=np.random.default_rng(seed))
        result = BLOCKS[kind](draft)
        file.write_bytes(draft.floats(result))
        shapes = {name: array.shape for name, array in draft.inputs.items()}
        return Written(file=file, shapes=shapes, by_hand=draft.quantised(result))
    model, shape = (image_network if kind == "image" else signal_network)(seed)
    onnx.save(model, file)
    return Written(file=file, shapes={"in": shape})


def model_of(seed: int, kind: str, form: Form, folder: Path) -> Path:
    """The file of such a model, in the folder."""
    network = float_network(kind, seed, folder)
    random = np.random.default_rng(seed)
    samples = [
        {name: random.standard_normal(shape).astype(np.float32) for name, shape in network.shapes.items()}
        for _ in range(SAMPLES)
    ]
    file = folder / f"model{seed}.onnx"
    form.make(network, samples, file)
    return file


def judged(file: Path, form: Form, arguments: argparse.Namespace) -> tuple[str, Mapping[str, int], str]:
    """What is wrong, what is counted, and which steps are float between integers."""
    from dataclasses import replace

    from tilewright.deployment import Deployment
    from tilewright.validation.runner_choice import ready_runner
    from tilewright.validation.validation import validate, vectors_of

    options = replace(machine_options(arguments), arithmetic=(("*", form.arithmetic),))
    deployment = Deployment(file, arguments.target, options)
    graph = deployment.rewritten.graph
    shown = validate(deployment, ready_runner(deployment, arguments.on), vectors_of(deployment, None, SETS))
    real = {node.name for node in graph.nodes if any(graph.tensors[name].dtype.is_float for name in node.outputs)}
    integers = [step for step in shown.steps if step.name not in real or step.op in _EXACT]
    wrong = [f"{step.name} ({step.op})" for step in integers if not step.bit_equal]
    floats = () if form.name == DYNAMIC else between(graph)
    sums = {
        "steps": len(shown.steps),
        "of integers": len(integers),
        "not exact": len(wrong),
        "float between": len(floats),
    }
    if not shown.passed and not wrong:
        wrong = [str(shown.fault or "validation did not pass")]
    return ", ".join(wrong), {**sums, "with such": bool(floats)}, ", ".join(floats)


def flags(parser: argparse.ArgumentParser) -> None:
    """Where programs run."""
    machine_flags(parser, "generic")
    parser.add_argument("--on", default="", help="a runner; the target's own where none is given")


def outcomes(seeds: Sequence[int], arguments: argparse.Namespace, folder: Path) -> Iterator[Outcome]:
    """What became of each model, in the rows of its kind and of its form."""
    from tilewright.errors import TilewrightError

    logging.disable(logging.WARNING)
    for seed in seeds:
        kind, form = KINDS[seed % len(KINDS)], FORMS[seed // len(KINDS) % len(FORMS)]
        case = f"{seed} {kind}, {form.name}, {form.arithmetic}"
        try:
            wrong, sums, floats = judged(model_of(seed, kind, form, folder), form, arguments)
        except TilewrightError as error:
            yield Outcome(case, "refused", str(error))
            continue
        note = f"float between integers: {floats}" if floats else ""
        yield Outcome(case, "wrong" if wrong else "right", wrong, note, row=kind, sums=sums)
        yield Outcome("", "counted", row=f"{form.name}, {form.arithmetic}", sums=sums)


FUZZ = Fuzz(about=__doc__ or "", outcomes=outcomes, flags=flags)
