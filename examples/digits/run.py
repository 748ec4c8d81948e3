"""Compile the digits network to C, build it, run it on the whole test set, and compare it with its peers.

    python run.py [FOLDER]              FOLDER keeps the generated code; without it, it is thrown away
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime

from tilewright.cli.output import json_text
from tilewright.deployment import Deployment
from tilewright.folder import write_folder
from tilewright.plugins import load_named
from tilewright.reference import run as run_reference
from tilewright.report.build import build_report
from tilewright.report.picture import memory_plan_svg
from tilewright.report.text import layer_table, summary
from tilewright.runners.runner import Job, RunResult

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
    reference = [run_reference(deployment.graph, {"image": image}, deployment.registry.operators) for image in images]
    equal = sum(
        np.array_equal(mine["scores"], exact["scores"])
        for mine, exact in zip(generated.outputs, reference, strict=True)
    )
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
    return 0 if equal == len(labels) else 6


def run_generated(deployment: Deployment, images: Array) -> RunResult:
    """Build the generated C with this machine's compiler and run it on every image."""
    runner = load_named(("runner", "host")).runners["host"]
    missing = runner.available()
    if missing is not None:
        raise SystemExit(f"no C compiler: {missing}")
    job = Job(
        artifact=deployment.artifact,
        plan=deployment.allocated,
        prefix=deployment.prefix,
        input_sets=tuple({"image": image} for image in images),
    )
    with tempfile.TemporaryDirectory() as folder:
        return runner.run(job, Path(folder))


def run_peer(model: Path, images: Array) -> Array:
    """The same model in onnxruntime."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return np.stack([session.run(["scores"], {"image": image})[0] for image in images])


def keep(deployment: Deployment, report: Mapping[str, object], folder: Path) -> None:
    """Write the generated code, the report and the picture of the memory plan."""
    extra = {"report.json": json_text(report).encode(), "memory.svg": memory_plan_svg(report).encode()}
    write_folder(folder, {**deployment.artifact.files, **extra})


if __name__ == "__main__":
    sys.exit(main())
