"""The loops that documents print for rows of inputs and outputs: compiled as strictly as generated code, and run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.plans.decisions import IoOwner
from tilewright.runners.host import SANITIZE, STRICT
from tilewright.runners.toolchain import find_compiler
from tilewright.snapshot.atomic_folder import write_folder

DOCS = Path(__file__).parents[2] / "docs"
LOOP = re.compile(r"```c\n((?:(?!```).)*?net_begin\(&ctx(?:(?!```).)*?while(?:(?!```).)*)```", re.DOTALL)
LOOPS = [
    (page, number, text)
    for page in ("howto/push-rows.md", "design/streamed-io.md")
    for number, text in enumerate(LOOP.findall((DOCS / page).read_text(encoding="utf-8")))
]
ONE = """
static void camera_line(float *line)
{
    memcpy(line, x + (size_t)net_pushed_x(&ctx) * NET_IN_X_ROW_ELEMENTS, NET_IN_X_ROW_SIZE);
}

static void display_line(const float *line)
{
    memcpy(shown + (size_t)(net_pulled_y(&ctx) - 1u) * NET_OUT_Y_ROW_ELEMENTS, line, NET_OUT_Y_ROW_SIZE);
}
"""
TWO = """
static unsigned turn;

static int left_has_line(void) /* lines do not come at the same time */
{
    return ++turn % 3u != 0u && net_pushed_left(&ctx) < NET_IN_LEFT_ROWS;
}

static int right_has_line(void)
{
    return turn % 5u > 1u && net_pushed_right(&ctx) < NET_IN_RIGHT_ROWS;
}

static const float *left_line(void)
{
    return x + (size_t)net_pushed_left(&ctx) * NET_IN_LEFT_ROW_ELEMENTS;
}

static const float *right_line(void)
{
    return x + (size_t)net_pushed_right(&ctx) * NET_IN_RIGHT_ROW_ELEMENTS;
}
"""
MAIN = """
#include "net.h"
#include <string.h>

static TW_ALIGNED(64) uint8_t ram[NET_POOL_RAM_SIZE];
static net_ctx ctx;
static float x[16 * 6], expected[16 * 6], shown[16 * 6];
HELPERS
static tw_status loop(void)
{
    DECLARED
LOOP
    return status;
}

int main(void)
{
    const net_pools pools = {ram};
    const net_inputs whole = {WHOLE};
    const net_outputs all = {expected};
    for (int i = 0; i < 16 * 6; ++i) {
        x[i] = (float)(i % 7 - 3);
    }
    if (net_init(&ctx, &pools, NULL, NULL, NULL) != TW_OK || net_run(&ctx, &whole, &all) != TW_OK) {
        return 2;
    }
    return loop() != TW_OK || memcmp(shown, expected, sizeof shown) != 0;
}
"""


def network(folder: Path, inputs: tuple[str, ...]) -> Path:
    """An image, or the sum of two, and a convolution."""
    weights = np.random.default_rng(0).integers(-1, 2, (1, 1, 3, 3)).astype(np.float32)
    nodes = [helper.make_node("Add", list(inputs), ["sum"])] if len(inputs) > 1 else []
    nodes.append(helper.make_node("Conv", [nodes[0].output[0] if nodes else inputs[0], "w"], ["y"], pads=[1, 1, 1, 1]))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1, 16, 6]) for name in (*inputs, "y")]
    graph = helper.make_graph(nodes, "net", ends[:-1], ends[-1:], [numpy_helper.from_array(weights, "w")])
    made = folder / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), made)
    return made


def test_the_loops_are_found() -> None:
    assert [page for page, _, _ in LOOPS] == ["howto/push-rows.md", "howto/push-rows.md", "design/streamed-io.md"]


@pytest.mark.parametrize(("page", "number", "text"), LOOPS, ids=[f"{page}-{number}" for page, number, _ in LOOPS])
def test_a_loop_hands_over_everything(page: str, number: int, text: str, tmp_path: Path) -> None:
    two = "net_push_left" in text
    output: IoOwner = "user" if two else "pull"
    options = Options(optimize="ram", io_inputs="push", io_outputs=output, const_format="c")
    made = Deployment(network(tmp_path, ("left", "right") if two else ("x",)), "generic", options)
    write_folder(tmp_path / "net", made.files)
    declared = ["" if two else "float line[6];", "" if "tw_status status" in text else "tw_status status;"]
    ends = [f"static const net_{one} {one} = {{{value}}};" for one, value in (("inputs", "NULL"), ("outputs", "shown"))]
    used = [one for one in ends if f"&{one.split()[3]}" in text]
    filled = {
        "HELPERS": TWO if two else ONE, "WHOLE": "x, x" if two else "x", "LOOP": text,
        "DECLARED": "\n    ".join((*used, *filter(None, declared))),
    }  # fmt: skip
    main = re.sub("|".join(filled), lambda found: filled[found.group()], MAIN)
    (tmp_path / "net" / "main.c").write_text(main, encoding="ascii")
    sources = ["main.c", *sorted(name for name in made.files if name.endswith(".c") and name != "net_simple.c")]
    command = [*find_compiler().command, *STRICT, *SANITIZE, "-I.", "-o", "main", *sources, "-lm"]
    subprocess.run(command, cwd=tmp_path / "net", check=True, timeout=300)
    assert subprocess.run(["./main"], cwd=tmp_path / "net", check=False, timeout=60).returncode == 0
