"""Networks that share memory: the sizes are computed, the program runs, and mistakes do not compile."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilewright.comparison.reference import run as run_reference
from tilewright.config.memory_pools import parse_pool
from tilewright.config.options import Options
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.rounding import align_up
from tilewright.multi_model.manifest import GroupFile, deployments, group_files, shared_pools
from tilewright.multi_model.shared_pools import SharedPool, soft_warnings
from tilewright.snapshot.atomic_folder import write_folder

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"
STRICT = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover")
MODELS = {"one": DIGITS / "digits_int8.onnx", "two": DIGITS / "digits_f32.onnx", "three": DIGITS / "digits_int8.onnx"}

MAIN = """
#include <stdio.h>
#include "app_pools.h"

static float image[64];
static float scores[30];

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    const app_pools pools = app_static_pools();
    const one_pools p1 = app_one_pools(&pools);
    const two_pools p2 = app_two_pools(&pools);
    const three_pools p3 = app_three_pools(&pools);
    one_ctx c1;
    two_ctx c2;
    three_ctx c3;
    const one_inputs i1 = {image};
    const two_inputs i2 = {image};
    const three_inputs i3 = {image};
    const one_outputs o1 = {scores};
    const two_outputs o2 = {scores + 10};
    const three_outputs o3 = {scores + 20};

    if (app_one_pools(NULL).ram != NULL || app_two_pools(&(app_pools){0}).ram != NULL) {
        return 4;
    }
    if (file == NULL || fread(image, sizeof image, 1, file) != 1) {
        return 1;
    }
    if (one_init(&c1, &p1, NULL, NULL, NULL) || two_init(&c2, &p2, NULL, NULL, NULL)
        || three_init(&c3, &p3, NULL, NULL, NULL)) {
        return 2;
    }
    if (one_run(&c1, &i1, &o1) || two_run(&c2, &i2, &o2) || three_run(&c3, &i3, &o3)) {
        return 3;
    }
    return fwrite(scores, sizeof scores, 1, stdout) == 1 ? 0 : 4;
}
"""


def shared(concurrent: tuple[tuple[str, ...], ...]) -> tuple[dict[str, int], SharedPool]:
    group = GroupFile(name="app", target="generic", models=MODELS, concurrent=concurrent)
    members = deployments(group, Options())
    (pool,) = shared_pools(group, members)
    return {prefix: member.worst_case_buffer_size["ram"] for prefix, member in members.items()}, pool


def aligned(size: int) -> int:
    return align_up(size, 16)


def test_exclusive_models_take_the_maximum() -> None:
    sizes, pool = shared(())
    assert pool.size_bytes == max(sizes.values()) == pool.lower_bound_bytes
    assert set(pool.offsets.values()) == {0}


def test_concurrent_models_take_the_sum() -> None:
    sizes, pool = shared((("one", "two", "three"),))
    assert pool.size_bytes <= sum(aligned(size) for size in sizes.values())
    assert pool.size_bytes >= sum(sizes.values())


def test_partly_concurrent_models_take_what_is_needed() -> None:
    sizes, pool = shared((("one", "two"),))
    both = min(aligned(sizes["one"]) + sizes["two"], aligned(sizes["two"]) + sizes["one"])
    assert pool.size_bytes == max(both, sizes["three"])
    one, two = pool.offsets["one"], pool.offsets["two"]
    assert one + sizes["one"] <= two or two + sizes["two"] <= one


@pytest.mark.slow
@pytest.mark.parametrize("concurrent", [(), (("one", "three"), ("two", "three"))])
def test_the_program_runs_and_is_clean(
    concurrent: tuple[tuple[str, ...], ...], tmp_path: Path, tool: Callable[[str], str]
) -> None:
    group = GroupFile(name="app", target="generic", models=MODELS, concurrent=concurrent)
    members = deployments(group, Options())
    write_folder(tmp_path, group_files(group, members, shared_pools(group, members)))
    (tmp_path / "main.c").write_text(MAIN, encoding="utf-8")
    image = np.load(DIGITS / "digits_test.npz")["images"][7]
    (tmp_path / "image.bin").write_bytes(image.astype(np.float32).tobytes())
    sources = [
        str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*.[cS]")) if "_simple" not in path.name
    ]
    folders = [f"-I{prefix}" for prefix in MODELS]
    command = [tool("gcc"), *STRICT, *SANITIZE, "-I.", *folders, *sources, "-o", "app", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    result = subprocess.run(["./app", "image.bin"], cwd=tmp_path, check=True, capture_output=True)
    scores = np.frombuffer(result.stdout, np.float32).reshape(3, 10)
    for row, member in zip(scores, members.values(), strict=True):
        expected = run_reference(member.graph, {"image": image[None].astype(np.float32)}, member.registry.operators)
        np.testing.assert_allclose(row, expected["scores"].reshape(10), rtol=1e-5, atol=1e-6)


def test_a_model_that_was_generated_anew_does_not_compile(tmp_path: Path, tool: Callable[[str], str]) -> None:
    group = GroupFile(name="app", target="generic", models={"one": MODELS["one"]})
    members = deployments(group, Options())
    write_folder(tmp_path, group_files(group, members, shared_pools(group, members)))
    header = tmp_path / "one" / "one.h"
    plan = f"0x{members['one'].allocated.plan_id:08x}u"
    header.write_text(header.read_text(encoding="utf-8").replace(plan, "0x00000001u"), encoding="utf-8")
    command = [tool("gcc"), "-std=c11", "-fsyntax-only", "-I.", "-Ione", "app_pools.c"]
    result = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert result.returncode != 0
    assert "generate the group again" in result.stderr


def test_a_group_that_does_not_fit_says_who_needs_what() -> None:
    group = GroupFile(name="app", target="generic", models=MODELS, concurrent=(("one", "two"),))
    members = deployments(group, Options(memory={"ram": 3_000}))
    with pytest.raises(TilewrightError) as caught:
        shared_pools(group, members)
    assert caught.value.exit_code is Exit.DOES_NOT_FIT
    assert caught.value.code == "TW5030"
    assert "one, two" in str(caught.value)


def test_the_command_writes_every_model_and_what_they_share(tmp_path: Path, tool: Callable[[str], str]) -> None:
    file = tmp_path / "app.toml"
    models = "".join(f'{prefix} = "{path}"\n' for prefix, path in MODELS.items())
    file.write_text(f'target = "generic"\n[models]\n{models}', encoding="utf-8")
    command = [tool("tilewright"), "compile", "--group", str(file), "-o", str(tmp_path / "app"), "--json", "-"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    report = json.loads(result.stdout)
    assert report["pools"][0]["used_bytes"] == max(report["pools"][0]["models"].values())
    assert {path.name for path in (tmp_path / "app").iterdir()} >= {
        "one",
        "two",
        "three",
        "app_pools.h",
        "CMakeLists.txt",
    }


def test_a_group_and_a_model_exclude_each_other(tmp_path: Path, tool: Callable[[str], str]) -> None:
    command = [tool("tilewright"), "compile", "model.onnx", "--group", "app.toml", "-o", str(tmp_path)]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert result.returncode == Exit.USAGE
    assert "leave MODEL and --target out" in result.stderr


def test_without_a_group_a_model_is_needed(tmp_path: Path, tool: Callable[[str], str]) -> None:
    result = subprocess.run(
        [tool("tilewright"), "compile", "-o", str(tmp_path)], check=False, capture_output=True, text=True
    )
    assert result.returncode == Exit.USAGE
    assert "Missing argument 'MODEL'" in result.stderr


def test_a_soft_limit_of_a_group_is_a_warning() -> None:
    group = GroupFile(name="app", target="generic", models=MODELS, concurrent=(("one", "two"),))
    members = deployments(group, Options(pools=(parse_pool("ram:2600,soft"),)))
    pools = shared_pools(group, members)
    (warning,) = soft_warnings(pools, {prefix: one.allocated for prefix, one in members.items()})
    assert (warning.code, warning.severity) == ("TW5031", "warning")
    assert f"{pools[0].size_bytes - 2600:,} B more" in warning.message
