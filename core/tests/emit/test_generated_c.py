"""What the generated C promises: no warning, no heap, no writable global, any number of models, every language mode."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_compiler import each_compiler

from tilewright.emit import EmitOptions, Vector
from tilewright.runners.toolchain import Compiler

COMPILERS = pytest.mark.parametrize("compiler", each_compiler(), ids=lambda compiler: compiler.name)
PICKY = ("-Wcast-align", "-Wcast-qual", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Wundef", "-Wvla")


def run(*command: object, cwd: Path | None = None) -> str:
    return subprocess.run([str(word) for word in command], check=True, cwd=cwd, capture_output=True, text=True).stdout


@pytest.fixture
def folder(toy: Any, tmp_path: Path) -> Path:
    """The toy network, constants as a C array, with a self-test."""
    graph = toy.graph()
    x = np.full((1, 10), -5, np.int8)
    vector = Vector(inputs={"mfcc:0": x}, outputs={"scores": toy.expected(graph, x)})
    return Path(toy.write(toy.artifact(toy.program(graph), EmitOptions(vectors=(vector,))), tmp_path / "toy"))


def sources(folder: Path) -> Sequence[Path]:
    return sorted(folder.glob("*.c"))


@pytest.mark.slow
@COMPILERS
@pytest.mark.parametrize("form", ["c", "incbin"])
@pytest.mark.parametrize("io", ["pool", "user"])
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_no_warning_and_the_selftest_passes(
    toy: Any, tmp_path: Path, compiler: Compiler, form: Any, io: str, level: str
) -> None:
    graph = toy.graph()
    x = np.arange(10, dtype=np.int8)[None]
    vector = Vector(inputs={"mfcc:0": x}, outputs={"scores": toy.expected(graph, x)})
    artifact = toy.artifact(toy.program(graph, io=io), EmitOptions(const_format=form, vectors=(vector,)))
    files = toy.write(artifact, tmp_path / "toy")
    shutil.move(files / "toy_selftest.c", tmp_path / "main.c")
    run(toy.build([files], tmp_path / "main.c", (level, *PICKY), compiler=compiler))


def test_the_selftest_can_fail(toy: Any, tmp_path: Path) -> None:
    graph = toy.graph()
    x = np.zeros((1, 10), np.int8)
    wrong = toy.expected(graph, x).copy()
    wrong[0, 9] += 1
    options = EmitOptions(vectors=(Vector(inputs={"mfcc:0": x}, outputs={"scores": wrong}),))
    files = toy.write(toy.artifact(toy.program(graph), options), tmp_path / "toy")
    shutil.move(files / "toy_selftest.c", tmp_path / "main.c")
    program = toy.build([files], tmp_path / "main.c")
    assert subprocess.run([program], check=False).returncode == 1


@pytest.mark.parametrize("bad", [False, True])
def test_the_selftest_of_a_float_network(toy: Any, tmp_path: Path, bad: bool) -> None:
    x = np.array([0.5, -3.25, 1e30, 0.0, 7.0], np.float32)
    y = x / 4 * (1.01 if bad else 1.0)
    options = EmitOptions(vectors=(Vector(inputs={"x": x}, outputs={"y": y.astype(np.float32)}),))
    files = toy.write(toy.artifact(toy.program(toy.float_graph(), "floats"), options), tmp_path / "floats")
    shutil.move(files / "floats_selftest.c", tmp_path / "main.c")
    program = toy.build([files], tmp_path / "main.c")
    assert subprocess.run([program], check=False).returncode == int(bad)


@pytest.mark.parametrize("options", [("-x", "c", "-std=c90"), ("-x", "c", "-std=c99"), ("-x", "c++", "-std=c++11")])
@COMPILERS
def test_the_header_in_other_languages(
    folder: Path, tmp_path: Path, options: Sequence[str], compiler: Compiler
) -> None:
    user = tmp_path / "user.txt"
    user.write_text(
        '#include "toy.h"\n#include "toy.h"\n'
        "static TW_ALIGNED(TOY_POOL_RAM_ALIGN) uint8_t ram[TOY_POOL_RAM_SIZE];\n"
        "int use(const int8_t *x, int8_t *y);\n"
        "int use(const int8_t *x, int8_t *y)\n"
        "{\n"
        "    static const unsigned shape[TOY_IN_MFCC_0_NDIM] = TOY_IN_MFCC_0_SHAPE;\n"
        "    static const float scale = TOY_IN_MFCC_0_SCALE;\n"
        "    toy_ctx ctx;\n    toy_pools pools;\n"
        "    pools.ram = ram;\n"
        "    return (int)toy_init(&ctx, &pools, 0, 0, 0) + (int)toy(x, y) + (int)shape[0] + (int)scale;\n"
        "}\n"
    )
    flags = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror", f"-I{folder}")
    run(*compiler.command, *options, *flags, "-c", user, "-o", tmp_path / "user.o")


@pytest.mark.slow
def test_cpp_calls_c(cc: Any, cxx: Any, folder: Path, tmp_path: Path) -> None:
    main = tmp_path / "main.cc"
    main.write_text('#include "toy.h"\nint main() { int8_t x[10] = {}, y[10]; return toy(x, y); }\n')
    for source in sources(folder):
        if "selftest" not in source.name:
            run(*cc(), "-std=c11", "-c", source, "-o", tmp_path / f"{source.stem}.o")
    objects: list[object] = [str(path) for path in sorted(tmp_path.glob("*.o"))]
    run(*cxx("-std=c++11", f"-I{folder}"), main, *objects, "-o", tmp_path / "program")
    run(tmp_path / "program")


def test_an_older_runtime_header_is_refused(cc: Any, folder: Path, tmp_path: Path) -> None:
    runtime = folder / "tw_runtime.h"
    runtime.write_text(runtime.read_text().replace("#define TW_API_LEVEL 3", "#define TW_API_LEVEL 0"))
    done = subprocess.run(
        [*cc(), "-c", folder / "toy.c", "-o", tmp_path / "o"], capture_output=True, text=True, check=False
    )
    assert done.returncode
    assert "API level" in done.stderr


def test_fast_math_is_refused(cc: Any, folder: Path, tmp_path: Path) -> None:
    command = [*cc(), "-ffast-math", "-c", str(folder / "toy.c"), "-o", str(tmp_path / "o")]
    assert subprocess.run(command, capture_output=True, check=False).returncode


@pytest.mark.slow
def test_external_names_and_writable_bytes(cc: Any, tool: Any, folder: Path, tmp_path: Path) -> None:
    for source in sources(folder):
        run(*cc(), "-std=c11", "-O2", "-c", source, "-o", tmp_path / f"{source.stem}.o")
    defined = {
        line.split()[-1] for line in run(tool("nm"), "-g", "--defined-only", tmp_path / "toy.o").splitlines() if line
    }
    assert defined == {"toy_init", "toy_run", "toy_reset_state", "toy_map_inputs", "toy_map_outputs"}
    needed = {line.split()[-1] for line in run(tool("nm"), "-u", tmp_path / "toy.o").splitlines() if line}
    assert needed <= {"toy_const_flash", "memcpy", "memset", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}
    for name, bss in (("toy", 0), ("toy_weights", 0), ("toy_simple", 30)):
        _, data, found = run(tool("size"), tmp_path / f"{name}.o").splitlines()[1].split()[:3]
        assert (int(data), int(found)) == (0, bss), name
    assert ".bss.tw.ram" in run(tool("objdump"), "-h", tmp_path / "toy_simple.o")
    assert ".rodata.tw.toy.flash" in run(tool("objdump"), "-h", tmp_path / "toy_weights.o")


def test_sections_can_be_overridden(cc: Any, tool: Any, folder: Path, tmp_path: Path) -> None:
    pool = '-DTOY_POOL_RAM_ATTR=__attribute__((section(".bss.mine")))'
    run(*cc(), "-std=c11", pool, "-c", folder / "toy_simple.c", "-o", tmp_path / "s.o")
    headers = run(tool("objdump"), "-h", tmp_path / "s.o")
    assert ".bss.mine" in headers
    assert ".bss.tw" not in headers


@pytest.mark.slow
def test_hooks_are_compiled_out(cc: Any, tool: Any, folder: Path, tmp_path: Path) -> None:
    """With TW_NO_HOOKS nothing calls through a pointer any more."""
    run(*cc(), "-std=c11", "-O2", "-DTW_NO_HOOKS", "-c", folder / "toy.c", "-o", tmp_path / "without.o")
    run(*cc(), "-std=c11", "-O2", "-c", folder / "toy.c", "-o", tmp_path / "with.o")
    texts = {
        name: int(run(tool("size"), tmp_path / f"{name}.o").splitlines()[1].split()[0]) for name in ("with", "without")
    }
    assert texts["without"] < texts["with"]


@pytest.mark.slow
def test_two_models_in_one_program_without_a_heap(toy: Any, tmp_path: Path) -> None:
    one = toy.write(toy.artifact(toy.program(toy.graph(), "one")), tmp_path / "one")
    two = toy.write(
        toy.artifact(toy.program(toy.graph(length=24), "two"), EmitOptions(const_format="incbin")), tmp_path / "two"
    )
    three = toy.write(toy.artifact(toy.program(toy.float_graph(), "three")), tmp_path / "three")
    last = int(toy.expected(toy.graph(length=24), np.zeros((1, 24), np.int8))[0, 23])
    (tmp_path / "main.c").write_text(
        '#include "one.h"\n#include "two.h"\n#include "three.h"\n'
        "int main(void)\n{\n"
        "    static int8_t a[10], b[10], c[24], d[24];\n"
        "    static const float e[5] = {4.0f};\n    float f[5];\n"
        "    return one(a, b) != TW_OK || two(c, d) != TW_OK || three(e, f) != TW_OK || f[0] < 1.0f || "
        f"d[23] != {last};\n}}\n"
    )
    wrapped = [f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "realloc", "free")]
    run(toy.build([one, two, three], tmp_path / "main.c", wrapped))


@pytest.mark.slow
def test_one_context_for_each_thread(toy: Any, tmp_path: Path) -> None:
    files = toy.write(toy.artifact(toy.program(toy.graph())), tmp_path / "toy")
    (tmp_path / "main.c").write_text(
        '#include "toy.h"\n#include <pthread.h>\n#include <stddef.h>\n#include <string.h>\n'
        "struct job { TW_ALIGNED(16) uint8_t ram[TOY_POOL_RAM_SIZE]; int8_t x[10]; int8_t y[10]; int bad; };\n"
        "static void *work(void *argument)\n{\n"
        "    struct job *job = (struct job *)argument;\n    toy_ctx ctx;\n    toy_pools pools = {job->ram};\n"
        "    toy_inputs in = {job->x};\n    toy_outputs out = {job->y};\n    int8_t first[10];\n"
        "    job->bad = toy_init(&ctx, &pools, NULL, NULL, NULL) != TW_OK || toy_run(&ctx, &in, &out) != TW_OK;\n"
        "    memcpy(first, job->y, sizeof first);\n"
        "    for (int i = 0; i < 2000; ++i) {\n        job->bad |= toy_run(&ctx, &in, &out) != TW_OK;\n"
        "        job->bad |= memcmp(first, job->y, sizeof first) != 0;\n    }\n    return NULL;\n}\n"
        "int main(void)\n{\n    static struct job jobs[4];\n    pthread_t threads[4];\n    int bad = 0;\n"
        "    for (int i = 0; i < 4; ++i) {\n        memset(jobs[i].x, 10 * i, 10);\n"
        "        bad |= pthread_create(&threads[i], NULL, work, &jobs[i]);\n    }\n"
        "    for (int i = 0; i < 4; ++i) {\n        pthread_join(threads[i], NULL);\n"
        "        bad |= jobs[i].bad;\n    }\n"
        "    return bad;\n}\n"
    )
    run(toy.build([files], tmp_path / "main.c", ("-pthread", "-fsanitize=thread", "-g")))


def test_incbin_is_found_from_any_folder(toy: Any, cc: Any, tool: Any, tmp_path: Path) -> None:
    files = toy.write(
        toy.artifact(toy.program(toy.graph()), EmitOptions(const_format="incbin")), tmp_path / "a b" / "toy"
    )
    elsewhere = tmp_path / "build" / "deep"
    elsewhere.mkdir(parents=True)
    run(*cc(), f"-I{files}", "-c", files / "toy_weights.S", "-o", "w.o", cwd=elsewhere)
    assert "toy_const_flash" in run(tool("nm"), elsewhere / "w.o")


def test_same_bytes_twice(toy: Any) -> None:
    first, second = (toy.artifact(toy.program(toy.graph())) for _ in range(2))
    assert first.files == second.files


def test_constants_in_a_file_leave_the_program(toy: Any, cc: Any, tool: Any, tmp_path: Path) -> None:
    artifact = toy.artifact(toy.program(toy.graph()), EmitOptions(const_format="bin"))
    assert "toy_flash.bin" in artifact.files
    assert "toy_simple.c" not in artifact.files
    files = toy.write(artifact, tmp_path)
    run(*cc(), "-std=c11", "-c", files / "toy.c", "-o", tmp_path / "toy.o")
    assert "toy_const_flash" not in run(tool("nm"), tmp_path / "toy.o")


def test_the_blob_starts_with_the_plan(toy: Any) -> None:
    program = toy.program(toy.graph())
    content = toy.artifact(program, EmitOptions(const_format="bin")).files["toy_flash.bin"]
    assert int.from_bytes(content[:4], "little") == program.allocated.plan_id
    assert int.from_bytes(content[4:8], "little") == len(content) == 26
    assert content[8:16] == bytes(8)
    assert content[16:] == toy.graph().constants["b"].tobytes()


def test_no_constants_no_inputs_in_pools(toy: Any, tmp_path: Path) -> None:
    """A float network whose tensors stay with the caller and which has no constants."""
    artifact = toy.artifact(toy.program(toy.float_graph(), "floats", io="user"))
    assert not any("weights" in name for name in artifact.files)
    files = toy.write(artifact, tmp_path / "floats")
    (tmp_path / "main.c").write_text(
        '#include "floats.h"\nint main(void)\n{\n    static const float x[5] = {8.0f, -4.0f};\n    float y[5];\n'
        "    return floats(x, y) != TW_OK || y[0] > 2.0f || y[0] < 2.0f || y[1] > -1.0f;\n}\n"
    )
    run(toy.build([files], tmp_path / "main.c"))
