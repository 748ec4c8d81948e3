"""Compile the digits network to C, build it, run it on the whole test set, and compare it with its peers.
Where QEMU and a compiler for Arm are installed, also run it on an emulated Cortex-M4 and count its instructions.

    python run.py [FOLDER]              FOLDER keeps the generated code; without it, it is thrown away
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime

from tilewright.comparison.reference import run as run_reference
from tilewright.deployment import Deployment
from tilewright.ir.programs.runner import Job, Runner, RunResult
from tilewright.plugins import load_named
from tilewright.report.drawing.chart import report_svg
from tilewright.report.plain_text import json_text
from tilewright.report.report_json import build_report
from tilewright.report.text import layer_table, summary
from tilewright.snapshot.atomic_folder import write_folder

EMULATED = 5  # images on the emulated core

HERE = Path(__file__).resolve().parent

Array = np.ndarray


def main() -> int:
    """0 when the generated C equals the reference on every sample."""
    test = np.load(HERE / "digits_test.npz")
    images, labels = test["images"][:, None], test["labels"]  # [N, 1, 1, 8, 8]: batches of one
    deployment = Deployment(HERE / "digits_int8.onnx", "generic")
    report = build_report(deployment)
    print(summary(report), end="\n\n")
    print(layer_table(report), end="\n\n")
    if sys.argv[1:]:
        keep(deployment, report, Path(sys.argv[1]))
    generated = run_generated(deployment, images)
    equal = equal_to_reference(deployment, generated, images)
    rows = (
        ("float model, onnxruntime", run_peer(HERE / "digits_f32.onnx", images)),
        ("int8 model, onnxruntime", run_peer(HERE / "digits_int8.onnx", images)),
        ("int8 model, generated C", np.stack([values["scores"] for values in generated.outputs])),
    )
    print(f"accuracy on {len(labels)} test images")
    for name, scores in rows:
        correct = int(np.sum(scores.reshape(len(labels), -1).argmax(1) == labels))
        print(f"  {name:26}  {100 * correct / len(labels):6.2f} %   ({correct} of {len(labels)})")
    print(f"generated C equals the integer reference, bit for bit, on {equal} of {len(labels)} images")
    emulated = run_emulated(images[:EMULATED])
    return 0 if equal == len(labels) and emulated else 6


def run_generated(deployment: Deployment, images: Array) -> RunResult:
    """Build the generated C with this machine's compiler and run it on every image."""
    runner = load_named(("runner", "host")).runners["host"]
    missing = runner.available()
    if missing is not None:
        raise SystemExit(f"no C compiler: {missing}")
    return run_on(runner, deployment, images)


def run_emulated(images: Array) -> bool:
    """The same model for a Cortex-M4, in QEMU where it is installed. False: an output differs."""
    runner = load_named(("runner", "qemu-cortex-m")).runners["qemu-cortex-m"]
    missing = runner.available()
    if missing is not None:
        print(f"cortex-m4: not run, {missing}")
        return True
    deployment = Deployment(HERE / "digits_int8.onnx", "cortex-m4")
    result = run_on(runner, deployment, images)
    equal = equal_to_reference(deployment, result, images)
    executed = result.counts["instructions"]
    print(f"cortex-m4 in QEMU: {executed:,} instructions an image, equal to the reference on {equal} of {len(images)}")
    return equal == len(images)


def equal_to_reference(deployment: Deployment, result: RunResult, images: Array) -> int:
    """How many images gave the very bits of the integer reference."""
    operators = deployment.registry.operators
    exact = (run_reference(deployment.graph, {"image": image}, operators)["scores"] for image in images)
    return sum(np.array_equal(mine["scores"], scores) for mine, scores in zip(result.outputs, exact, strict=True))


def run_on(runner: Runner, deployment: Deployment, images: Array) -> RunResult:
    """Build for this runner and run every image."""
    job = Job(
        artifact=deployment.artifact,
        plan=deployment.allocated,
        prefix=deployment.prefix,
        input_sets=tuple({"image": image} for image in images),
    )
    with tempfile.TemporaryDirectory() as folder:
        return runner.run(job, Path(folder))


def run_peer(model: Path, images: Array) -> Array:
    """The same model in onnxruntime, node by node: fused, sums of products would saturate on some processors."""
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return np.stack([session.run(["scores"], {"image": image})[0] for image in images])


def keep(deployment: Deployment, report: Mapping[str, object], folder: Path) -> None:
    """Write the generated code, the report and the picture of the memory plan."""
    extra = {"report.json": json_text(report).encode(), "memory.svg": report_svg(report).encode()}
    write_folder(folder, {**deployment.artifact.files, **extra})


if __name__ == "__main__":
    sys.exit(main())
