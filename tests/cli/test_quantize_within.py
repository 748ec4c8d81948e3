"""`tilewright quantize --within` on trained networks: what is found fits, as `check` says, runs exactly, and at
equal bytes has less noise than 8 bits everywhere.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.slow


@pytest.fixture(name="here")
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with samples of both networks."""
    monkeypatch.chdir(tmp_path)
    with np.load(EXAMPLES / "digits" / "digits_test.npz") as digits:
        np.savez("digits.npz", image=digits["images"][:60], labels=digits["labels"][:60])
    with np.load(EXAMPLES / "keywords" / "keywords_test.npz") as keywords:
        np.savez("keywords.npz", spectrum=keywords["steps"][:80] / np.float32(16), labels=keywords["labels"][:80])
    return tmp_path


def found(typed: Any, name: str, words: str) -> dict[str, Any]:
    """What the search says of a network of the examples."""
    model = shlex.quote(str(EXAMPLES / name / f"{name}_f32.onnx"))
    done = typed(f"quantize {model} --calibration {name}.npz -o found.onnx --json found.json -t cortex-m4 {words}")
    assert done.code == 0, done.err
    told: dict[str, Any] = json.loads(Path("found.json").read_text(encoding="utf-8"))
    told["tried"] = {one["name"]: one for one in told["tried"]}
    told["next"] = done.out.rstrip().split("Next: tilewright ")[1]
    return told


@pytest.mark.parametrize("name", ["digits", "keywords"])
def test_at_the_bytes_of_8_bits_everywhere_what_is_found_has_less_noise(here: Path, typed: Any, name: str) -> None:
    alike = found(typed, name, "--activations int8 --weights 8 --within ram=1M")
    eight = alike["tried"]["all values 8, weights 8"]
    room = f"ram={eight['ram_bytes']},flash={eight['flash_bytes']}"
    told = found(typed, name, f"--within {room}")
    best = told["tried"]["chosen"]
    assert best["ram_bytes"] <= eight["ram_bytes"] and best["flash_bytes"] <= eight["flash_bytes"]
    assert best["noise"] < 0.9 * eight["noise"]
    assert told["right_quantised"] >= told["right_float"] - 2
    done = typed(f"{told['next']} --json check.json")
    assert done.code == 0, done.err
    pools = {pool["name"]: pool["used_bytes"] for pool in json.loads(Path("check.json").read_text())["pools"]}
    assert (pools["ram"], pools["flash"]) == (best["ram_bytes"], best["flash_bytes"])


def test_what_is_found_runs_exactly(here: Path, typed: Any) -> None:
    told = found(typed, "digits", "--clock 80MHz --within ram=2K,flash=8K,ms=1.2")
    assert {8, 16} <= set(told["bits"].values()), "time for some values of 16 bits, and not for all"
    done = typed("validate found.onnx --target generic --sets 1")
    assert done.code == 0 and "PASS" in done.out, done.out + done.err
