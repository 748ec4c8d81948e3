"""Applications written for the interpreter, which change their includes only: compiled strictly, and run."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flat_models import G, Op, T, file_of, remembering_network, small_network

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.machines.platform import Engine, Memory, Platform
from tilewright.plugins import load_named
from tilewright.testing.cluster import registry_for

ONE = Platform(
    name="one-memory",
    summary="made up: one core, one memory beside flash",
    memories=(
        Memory(name="ram", size_bytes=None, bytes_per_cycle=4.0),
        Memory(name="flash", size_bytes=None, kind="const", bytes_per_cycle=4.0),
    ),
    engines=(Engine(name="core", operations_per_cycle=1.0),),
)

STRICT = ("-std=c++11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
INCLUDES = '#include "net_tflm.h"\n\n#include <stdio.h>\n\n'
CLASSIFIER = """
namespace {
using Resolver = tflite::MicroMutableOpResolver<5>;

TfLiteStatus RegisterOps(Resolver &resolver)
{
    TF_LITE_ENSURE_STATUS(resolver.AddConv2D(tflite::Register_CONV_2D_INT8()));
    TF_LITE_ENSURE_STATUS(resolver.AddMaxPool2D());
    TF_LITE_ENSURE_STATUS(resolver.AddReshape());
    TF_LITE_ENSURE_STATUS(resolver.AddFullyConnected());
    TF_LITE_ENSURE_STATUS(resolver.AddSoftmax());
    return kTfLiteOk;
}

constexpr int kArenaSize = 4000;
alignas(16) uint8_t arena[kArenaSize];
}

TfLiteStatus Run()
{
    const tflite::Model *model = tflite::GetModel(g_net_model_data);
    TFLITE_CHECK_EQ(model->version(), static_cast<uint32_t>(TFLITE_SCHEMA_VERSION));
    Resolver resolver;
    TF_LITE_ENSURE_STATUS(RegisterOps(resolver));
    tflite::MicroInterpreter interpreter(model, resolver, arena, kArenaSize);
    TFLITE_CHECK(interpreter.input(0) == nullptr && interpreter.Invoke() == kTfLiteError);
    TF_LITE_ENSURE_STATUS(interpreter.AllocateTensors());
    TFLITE_CHECK_EQ(interpreter.arena_used_bytes(), static_cast<size_t>(NET_TFLM_ARENA_SIZE));

    TfLiteTensor *input = interpreter.input(0), *output = interpreter.output(0);
    TFLITE_CHECK(interpreter.inputs_size() == 1 && interpreter.output(1) == nullptr);
    TFLITE_CHECK(input->type == kTfLiteInt8 && input->dims->size == 4 && input->bytes == 36);
    TFLITE_CHECK(input->params.scale == 0.5f && input->params.zero_point == 1);
    printf("%d %d %d %d\\n", input->dims->data[0], input->dims->data[1], input->dims->data[2], input->dims->data[3]);
    for (size_t i = 0; i < input->bytes; ++i) {
        input->data.int8[i] = static_cast<int8_t>(7 * i - 100);
    }
    TF_LITE_ENSURE_STATUS(interpreter.Invoke());
    for (int i = 0; i < output->dims->data[1]; ++i) {
        printf("%d ", output->data.int8[i]);
    }
    printf("%d\\n", *interpreter.typed_output_tensor<int8_t>(0));
    MicroPrintf("%s", "done");
    return kTfLiteOk;
}

int main()
{
    return Run() == kTfLiteOk ? 0 : 1;
}
"""
STREAM = """
alignas(16) static uint8_t arena[NET_TFLM_ARENA_SIZE + 64];
alignas(16) static uint8_t small[NET_TFLM_ARENA_SIZE];
static const unsigned char file[] = {28, 0, 0, 0, 'T', 'F', 'L', '3'};

int main()
{
    tflite::AllOpsResolver all;
    tflite::MicroAllocator *allocator = tflite::MicroAllocator::Create(arena, sizeof arena);
    tflite::MicroResourceVariables *variables = tflite::MicroResourceVariables::Create(allocator, 1);
    tflite::MicroInterpreter stream(tflite::GetModel(g_net_model_data), all, allocator, variables);

    TFLITE_CHECK_EQ(stream.AllocateTensors(), kTfLiteOk);
    for (int run = 0; run < 4; ++run) {
        stream.input(0)->data.int8[0] = static_cast<int8_t>(10 + run);
        TFLITE_CHECK_EQ(stream.Invoke(), kTfLiteOk);
        const int8_t *y = tflite::GetTensorData<int8_t>(stream.output(0));
        printf("%d %d %d\\n", y[0], y[1], y[2]);
        if (run == 2) {
            TFLITE_CHECK_EQ(stream.Reset(), kTfLiteOk);
        }
    }
    tflite::MicroInterpreter exact(tflite::GetModel(g_net_model_data), all, small, NET_TFLM_ARENA_SIZE);
    tflite::MicroInterpreter short_of(tflite::GetModel(g_net_model_data), all, small, NET_TFLM_ARENA_SIZE - 1);
    tflite::MicroInterpreter of_a_file(tflite::GetModel(file), all, arena, sizeof arena);
    printf("%d %d %d\\n", exact.AllocateTensors(), short_of.AllocateTensors(), of_a_file.AllocateTensors());
    return 0;
}
"""


def exported(network: bytes, **options: Any) -> Mapping[str, bytes]:
    """What `--emit tflm` writes for a machine of one core, whatever else is installed."""
    ours = load_named(("importer", "tflite"), ("exporter", "tflm"))
    registry = registry_for(ONE)
    registry = replace(registry, importers=ours.importers, exporters={**registry.exporters, **ours.exporters})
    return Deployment(network, ONE.name, Options(emit=("tflm",), name="net", **options), registry).files


@pytest.fixture(name="run")
def _run(tmp_path: Path, cc: Any, cxx: Any) -> Callable[..., list[str]]:
    """What an application prints, beside the code of a network."""

    def run(network: bytes, application: str) -> list[str]:
        files = exported(network)
        for name, content in files.items():
            (tmp_path / name).write_bytes(content)
        (tmp_path / "main.cpp").write_text(INCLUDES + application, encoding="ascii")
        sources = [name for name in files if name.endswith((".c", ".S")) and not name.endswith("_simple.c")]
        objects = [f"{name}.o" for name in (*sources, "main.cpp")]
        for name, made in zip(sources, objects, strict=False):
            subprocess.run(cc("-std=c11", "-O1", "-c", "-o", made, name), cwd=tmp_path, check=True)
        subprocess.run(cxx(*STRICT, "-O1", "-c", "-o", objects[-1], "main.cpp"), cwd=tmp_path, check=True)
        subprocess.run(cc("-o", "program", *objects, "-lm"), cwd=tmp_path, check=True)
        done = subprocess.run([str(tmp_path / "program")], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()

    return run


@pytest.mark.slow
def test_an_application_changes_its_includes_only(run: Any, compute: Any) -> None:
    x = (7 * np.arange(36) - 100).astype(np.int8).reshape(1, 6, 6, 1)
    (scores,) = compute(small_network(), x)
    shape, said, end = run(file_of(small_network()), CLASSIFIER)
    assert (shape, end) == ("1 6 6 1", "done")
    assert list(map(int, said.split())) == [*scores[0], scores[0, 0]]


@pytest.mark.slow
def test_a_network_keeps_its_state_in_the_arena(run: Any) -> None:
    said = run(remembering_network(), STREAM)
    assert said == ["2 3 10", "3 10 11", "10 11 12", "2 3 13", "0 1 1"]


def of_two(first: str = "int8", second: str = "float32") -> bytes:
    """Two inputs, which nothing reads in their order, and a scalar."""
    tensors = [
        T(name="late", type=first, shape=(2, 3)),
        T(name="early", type=second, shape=(4,)),
        T(name="a", type=second, shape=(4,)),
        T(name="b", type=first, shape=(2, 3)),
    ]
    ops = [Op(code="ABS", inputs=(1,), outputs=(2,)), Op(code="RELU", inputs=(0,), outputs=(3,))]
    return file_of(G(tensors=tensors, ops=ops, inputs=(0, 1), outputs=(3, 2)))


def header(network: bytes, **options: Any) -> str:
    return exported(network, **options)["net_tflm.h"].decode("ascii")


def test_tensors_stand_in_the_order_of_the_file() -> None:
    text = header(of_two("float32"))
    places = ["inputs.late,", "inputs.early,", "outputs.b,", "outputs.a,"]
    assert text[text.index("places[] = {") :].split()[3:7] == places
    assert text.count("kTfLiteFloat32,") == 4 and "NET_IN_LATE_SCALE" not in text
    assert all(len(line) <= 120 for line in text.splitlines())


@pytest.mark.parametrize(
    ("options", "reason", "fix"),
    [
        ({"io_inputs": "user"}, "is not in the plan", "without --io"),
        ({"const_format": "bin"}, "loads the constants", "without --const-format bin"),
    ],
)
def test_plans_that_no_interpreter_has_are_refused(options: Any, reason: str, fix: str) -> None:
    with pytest.raises(TilewrightError, match="cannot serve this plan") as caught:
        header(file_of(small_network()), **options)
    assert (caught.value.code, caught.value.exit_code) == ("TW1242", Exit.USAGE)
    assert reason in caught.value.details[0] and fix in caught.value.fix[0]
