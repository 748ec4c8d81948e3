"""Where another runtime computes something else, the first node that is suspicious is named."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.cli.against import _demand_same_forms, demand_agreement, demand_known, lines, other_values
from tilewright.comparison.other_runtime import NodeAgreement
from tilewright.comparison.verdicts import Drift, OutputVerdict
from tilewright.config.options import Options
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.model_formats import FormatRuntime, ImportedModel, Importer, Reading


def test_an_output_that_is_far_away_fails_and_names_the_first_node() -> None:
    near, far = _agreement("conv", within=False), _agreement("relu", within=False, output=True)
    demand_agreement([_agreement("relu", within=True, output=True)], "onnxruntime", "model.onnx")
    with pytest.raises(TilewrightError) as caught:
        demand_agreement([near, far], "onnxruntime", "model.onnx")
    assert (caught.value.code, caught.value.exit_code) == ("TW6004", Exit.MISMATCH)
    assert caught.value.where == "node 'conv' (Op)"
    assert "the first suspicious node is 'conv' (Op)" in list(lines([near, far], "onnxruntime"))


@pytest.mark.parametrize("other", [np.zeros((4,), np.float32), np.zeros((1, 4), np.float64)], ids=["shape", "type"])
def test_an_output_in_another_form_is_not_left_out_in_silence(other: npt.NDArray[np.generic]) -> None:
    ours = [{"y": np.zeros((1, 4), np.float32), "inner": np.zeros(2, np.float32)}]
    _demand_same_forms(["y"], ours, [{"y": ours[0]["y"], "inner": np.zeros(3, np.float32)}], "onnxruntime")
    with pytest.raises(TilewrightError, match=r"float32\[1, 4\] here") as caught:
        _demand_same_forms(["y"], ours, [{"y": other}], "onnxruntime")
    assert (caught.value.code, caught.value.where) == ("TW6004", "output 'y'")


def _deployment(runtime: FormatRuntime, model: bytes = b"ACME 3") -> Any:
    """One of a format that has a runtime of its own."""
    importer = Importer(
        name="acme",
        summary="models of acme",
        suffixes=(".acme",),
        recognises=lambda data: data.startswith(b"ACME"),
        load=lambda data, reading: ImportedModel(model=None),
        runtimes=(runtime,),
    )
    return SimpleNamespace(model=model, options=Options(), registry=SimpleNamespace(importers={"acme": importer}))


def _times(data: bytes, reading: Reading, sets: Any) -> list[dict[str, Any]]:
    return [{"y": values["x"] * int(data.split()[1])} for values in sets]


def test_a_runtime_of_the_format_is_given_the_file_itself() -> None:
    deployment = _deployment(FormatRuntime(name="acme-run", package="acme", module="json", values=_times))
    demand_known(deployment, "acme-run")
    (found,) = other_values(deployment, "acme-run", (), [{"x": np.arange(3)}])
    assert list(found["y"]) == [0, 3, 6]


def test_who_runs_the_model_is_named() -> None:
    runtime = FormatRuntime(name="acme-run", package="acme-tools", module="no_such_module", values=_times)
    with pytest.raises(TilewrightError, match="needs acme-tools") as caught:
        demand_known(_deployment(runtime), "acme-run")
    assert (caught.value.code, caught.value.fix[0]) == ("TW7031", "pip install acme-tools")
    with pytest.raises(TilewrightError, match="takes this model") as caught:
        demand_known(_deployment(runtime), "acme-rum")
    assert caught.value.fix == (
        "did you mean 'acme-run'?",
        "write it as --against acme-run or onnxruntime or onnx-reference",
    )


@pytest.mark.parametrize(
    ("values", "said"),
    [(lambda *_: 1 // 0, "by zero"), (lambda *_: [], "it gave 0 of 1 sets")],
    ids=["raises", "too few"],
)
def test_a_runtime_that_cannot_run_it(values: Any, said: str) -> None:
    runtime = FormatRuntime(name="acme-run", package="acme", module="json", values=values)
    with pytest.raises(TilewrightError, match="acme-run cannot run this model") as caught:
        other_values(_deployment(runtime), "acme-run", (), [{"x": np.arange(3)}])
    assert caught.value.code == "TW7032" and said in caught.value.details[0]


def _agreement(node: str, *, within: bool, output: bool = False) -> NodeAgreement:
    verdict = OutputVerdict(
        name=node, elements=4, different=2, max_difference=7.0, argmax_equal=True, within=within, allowed=1e-4
    )
    drift = Drift(verdict=verdict, share=0.5, within=within)
    return NodeAgreement(node=node, op="Op", drift=drift, output=output)
