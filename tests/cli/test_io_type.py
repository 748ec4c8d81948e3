"""`--io-type`: integers at the border, and everything that then speaks of them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Run = Callable[..., Any]
MAIN = """
#include "digits_int8_quantize.h"
#include <stdio.h>
static float image[DIGITS_INT8_IN_IMAGE_ELEMENTS];
static int8_t pixels[DIGITS_INT8_IN_IMAGE_ELEMENTS];
static int8_t stored[DIGITS_INT8_OUT_SCORES_ELEMENTS];
static float scores[DIGITS_INT8_OUT_SCORES_ELEMENTS];
int main(void)
{
    if (fread(image, sizeof image, 1, stdin) != 1) return 1;
    digits_int8_quantize_image(image, pixels);
    if (digits_int8(pixels, stored) != TW_OK) return 2;
    digits_int8_dequantize_scores(stored, scores);
    return fwrite(scores, sizeof scores, 1, stdout) != 1;
}
"""


@pytest.fixture(name="image")
def _image(int8: Path) -> Any:
    return np.load(int8.with_name("digits_test.npz"))["images"][0][None]


def expected(image: Any, int8: Path) -> Any:
    """What the network as exported makes of it."""
    from tilewright.comparison.reference import run
    from tilewright.deployment import Deployment

    deployment = Deployment(int8, "generic")
    return run(deployment.imported.graph, {"image": image}, deployment.registry.operators)["scores"]


def test_the_application_quantises_and_the_scores_stay_the_same(
    tilewright: Run, int8: Path, tmp_path: Path, tool: Callable[[str], str], image: Any
) -> None:
    done = tilewright("compile", int8, "-t", "generic", "--io-type", "int8", "-o", tmp_path / "net")
    assert done.code == 0, done.err
    assert re.search(r"input +image +i8\[1, 1, 8, 8\] +real = \S+ \* \(stored", done.err)
    (tmp_path / "main.c").write_text(MAIN)
    sources = [*(tmp_path / "net").glob("*.[cS]"), tmp_path / "main.c"]
    strict = ("-std=c11", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-ffp-contract=off")
    command = [tool("cc"), *strict, f"-I{tmp_path / 'net'}", *map(str, sources), "-lm", "-o", str(tmp_path / "run")]
    subprocess.run(command, check=True)
    said = subprocess.run([str(tmp_path / "run")], input=image.tobytes(), capture_output=True, check=True).stdout
    np.testing.assert_array_equal(np.frombuffer(said, np.float32), expected(image, int8)[0])


def test_validate_quantises_given_vectors(tilewright: Run, int8: Path, tmp_path: Path, image: Any, tool: Any) -> None:
    tool("cc")
    np.savez(tmp_path / "v.npz", **{"set0/in/image": image, "set0/out/scores": expected(image, int8)})
    flags = ("-t", "generic", "--io-type", "int8", "--io", tmp_path / "v.npz", "--json", "-")
    verdict = tilewright("validate", int8, *flags)
    assert verdict.code == 0, verdict.err
    (output,) = verdict.json()["outputs"]
    assert (output["different"], len(verdict.json()["steps"])) == (0, 6)


def test_report_and_page_have_scale_and_zero_point(tilewright: Run, int8: Path, tmp_path: Path) -> None:
    done = tilewright("compile", int8, "-t", "generic", "--io-type", "image=int8", "--json", "-", "-o", tmp_path)
    assert done.code == 0, done.err
    (image,), (scores,) = done.json()["model"]["inputs"], done.json()["model"]["outputs"]
    assert image["type"] == "i8"
    assert "scale" not in scores
    header = (tmp_path / "digits_int8.h").read_text()
    scale = re.search(r"#define DIGITS_INT8_IN_IMAGE_SCALE (\S+)f", header)
    zero = re.search(r"#define DIGITS_INT8_IN_IMAGE_ZERO_POINT (\S+)", header)
    assert scale
    assert zero
    assert np.float32(scale[1]) == np.float32(image["scale"])
    assert int(zero[1]) == image["zero_point"]
    assert "_SCALE" not in header.partition("OUT_SCORES")[2]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"real = {image['scale']:.9g} * " in page


@pytest.mark.parametrize("asked", ["int64", "image=", "=int8", "image=int4"])
def test_what_is_no_type_is_refused(tilewright: Run, int8: Path, asked: str) -> None:
    done = tilewright("check", int8, "-t", "generic", "--io-type", asked)
    assert (done.code, "TW1101" in done.err) == (2, True)


def test_a_float_network_has_no_integers_to_hand_over(tilewright: Run, float32: Path) -> None:
    done = tilewright("check", float32, "-t", "generic", "--io-type", "int8")
    assert done.code == 2
    assert "TW1120" in done.err
    assert "input 'image'" in done.err
    assert "output 'scores'" in done.err


def test_what_is_offered_works(tilewright: Run, int8: Path) -> None:
    refused = tilewright("check", int8, "-t", "generic", "--io-type", "uint8")
    assert refused.code == 2
    (offered,) = re.findall(r"try:  (.*)", refused.err)
    assert tilewright("check", int8, "-t", "generic", *offered.split()).code == 0
