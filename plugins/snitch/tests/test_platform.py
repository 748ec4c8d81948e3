"""The target `snitch`: memories, cores, stacks, the core that only moves data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.api.testing import site_of, vocabulary
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright_snitch.platform import SNITCH

DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits" / "digits_int8.onnx"


def test_as_it_comes() -> None:
    (engine,) = SNITCH.engines
    assert (engine.cores, engine.dma_core) == (8, True)
    assert (SNITCH.backing, SNITCH.inner) == ("l3", "tcdm")
    assert SNITCH.memory("tcdm").size_bytes == 128 << 10
    assert SNITCH.runtime_bytes == {"tcdm": 9 * 1280}
    assert {(path.source, path.target) for path in SNITCH.copies} == {
        ("l3", "tcdm"), ("tcdm", "l3"), ("weights", "tcdm"),
    }  # fmt: skip


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_fewer_cores(cores: int) -> None:
    small = SNITCH.configure({"cores": str(cores)})
    assert small.engines[0].cores == cores
    assert small.runtime_bytes == {"tcdm": (cores + 1) * 1280}
    assert small.engines[0].operations_per_cycle < SNITCH.engines[0].operations_per_cycle


def test_stacks_are_far_where_the_scratchpad_is_small() -> None:
    assert SNITCH.configure({}).resized({"tcdm": 16 << 10}).runtime_bytes == {"tcdm": 0}
    assert SNITCH.configure({"stacks": "tcdm"}).resized({"tcdm": 16 << 10}).runtime_bytes == {"tcdm": 9 * 1280}


def test_far_stacks_are_slow() -> None:
    """On GVSoC, kws_int8 at 16 KiB took 3.6 times its estimate when no estimate had this."""
    (near,), small = SNITCH.engines, SNITCH.configure({}).resized({"tcdm": 16 << 10})
    (far,) = small.engines
    assert (near.slowdown, far.slowdown) == (1.0, 1.75)
    assert far.call_cycles == near.call_cycles + 4000
    site = site_of(vocabulary()["Neg"], [np.zeros((4, 8), np.float32)])
    assert SNITCH.portable_cycles is not None
    assert small.portable_cycles is not None
    assert far.slowdown * (small.portable_cycles(site) or 0) == 4 * (SNITCH.portable_cycles(site) or 1)
    assert small.resized({"tcdm": 64 << 10}).engines == SNITCH.engines


def test_the_instruction_set_is_a_macro() -> None:
    assert "#  define TW_SNITCH 1" in SNITCH.configure({}).prelude
    assert "#  define TW_SNITCH 0" in SNITCH.configure({"isa": "portable"}).prelude


def test_what_cannot_be() -> None:
    for settings in ({"cores": "3"}, {"stack": "100"}):
        with pytest.raises(TilewrightError) as refused:
            SNITCH.configure(settings)
        assert refused.value.code == "TW1102"


def test_a_saved_plan_comes_back_with_what_its_engines_know_of_code(tmp_path: Path) -> None:
    plan = Deployment(DIGITS, "snitch")
    plan.export_state(tmp_path / "state")
    (engine,) = plan.import_state(tmp_path / "state").allocated.tiled.scheduled.bound.platform.engines
    assert engine.code_cycles is not None
    assert (engine,) == plan.allocated.tiled.scheduled.bound.platform.engines
