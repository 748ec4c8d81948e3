"""Tiles of which the last is smaller, and is shared by more cores than the others: each core has scratch of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from tilewright.cli.main import tilewright
from tilewright.errors import TilewrightError
from tilewright.tile.cost import footprint
from tilewright.tile.cost import tiling_problem as problem
from tilewright.tile.cost.kernel_costs import scratch_bytes


def far_taps(file: Path) -> None:
    """A convolution over 81 places whose windows are copied to scratch first."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 9, 81]) for name in "xy"]
    weights = np.random.default_rng(0).integers(-3, 4, (9, 9, 3)).astype(np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="conv", dilations=[4], pads=[4, 4], kernel_shape=[3])
    graph = helper.make_graph([node], "far", ends[:1], ends[1:], [numpy_helper.from_array(weights, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    file.write_bytes(model.SerializeToString())


@pytest.mark.parametrize("tcdm", ["6200", "8000"])
def test_every_core_of_every_tile_has_scratch_of_its_own(tcdm: str, tmp_path: Path) -> None:
    """In both, seven cores share the largest of three tiles, and eight a smaller one."""
    far_taps(tmp_path / "far.onnx")
    words = ("validate", str(tmp_path / "far.onnx"), "--target", "snitch", "--on", "twin", "--sets", "1")
    result = CliRunner().invoke(tilewright, [*words, "--memory", f"tcdm={tcdm}", "--set", "stacks=l3"])
    assert result.exit_code == 0, result.output
    assert "PASS" in result.output


def test_scratch_for_the_cores_of_the_largest_tile_alone_is_seen_without_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_largest(*asked: Any) -> tuple[int, int]:
        kernel, site, access, extents, cores, _ = asked
        return scratch_bytes(kernel, site, access, extents, cores)

    for module in (footprint, problem):
        monkeypatch.setattr(module, "scratch_bytes", of_largest)
    far_taps(tmp_path / "far.onnx")
    target = ("--target", "snitch", "--memory", "tcdm=8000", "--set", "stacks=l3")
    result = CliRunner().invoke(tilewright, ["compile", str(tmp_path / "far.onnx"), *target, "-o", str(tmp_path / "c")])
    assert isinstance(result.exception, TilewrightError)
    assert "the cores need 4096 B of scratch together, and have 3584 B" in result.exception.message
