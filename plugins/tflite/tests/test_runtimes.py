"""Others who run the format: stand-ins with the interfaces of their packages, and the packages where they are."""

from __future__ import annotations

import sys
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flat_models import file_of, remembering_network, small_network

from tilewright.api.importer import Reading
from tilewright_tflite import RUNTIMES
from tilewright_tflite.importing import tensors_of

X = np.arange(36, dtype=np.int8).reshape(1, 6, 6, 1)
BY_NAME = {runtime.name: runtime for runtime in RUNTIMES}


class Micro:
    """As `tflite_micro.runtime.Interpreter`: the tensor of an index is full of the index, the output of the run."""

    def __init__(self, arena: int) -> None:
        self.arena, self.runs, self.given = arena, 0, {}

    def set_input(self, array: Any, index: int) -> None:
        self.given[index] = array

    def invoke(self) -> int:
        self.runs += 1
        return 0

    def get_output(self, index: int) -> Any:
        return np.full((1, 3), self.runs + index, np.int8)

    def GetTensor(self, index: int, graph: int) -> dict[str, Any]:  # the package calls it so
        shapes = {3: (1, 6, 6, 2), 4: (1, 3, 3, 2), 6: (1, 18), 8: (1, 3)}
        assert graph == 0
        return {"tensor_data": self.given[0] if index == 0 else np.full(shapes[index], index, np.int8)}


class LiteRT:
    """As `ai_edge_litert.interpreter.Interpreter`."""

    def __init__(self, made: list[LiteRT], **options: Any) -> None:
        self.options, self.ready, self.values = options, False, {}
        made.append(self)

    def allocate_tensors(self) -> None:
        self.ready = True

    def set_tensor(self, index: int, array: Any) -> None:
        assert self.ready
        self.values[index] = array

    def invoke(self) -> None:
        shapes = {3: (1, 6, 6, 2), 4: (1, 3, 3, 2)}
        self.values |= {index: np.full(shapes.get(index, (1, 3)), index, np.int8) for index in range(1, 10)}

    def get_tensor(self, index: int) -> Any:
        return self.values[index]


@pytest.fixture(name="opened")
def _stand_ins(monkeypatch: pytest.MonkeyPatch) -> list[LiteRT]:
    """The packages' modules, and the interpreters that were made of LiteRT."""
    opened: list[LiteRT] = []
    runtime = SimpleNamespace(
        InterpreterConfig=SimpleNamespace(kPreserveAllTensors="all"),
        Interpreter=SimpleNamespace(from_bytes=lambda data, arena_size, intrepreter_config: Micro(arena_size)),
    )
    litert = ModuleType("ai_edge_litert.interpreter")
    litert.Interpreter = partial(LiteRT, opened)  # type: ignore[attr-defined]
    litert.OpResolverType = SimpleNamespace(BUILTIN_WITHOUT_DEFAULT_DELEGATES="own")  # type: ignore[attr-defined]
    package = ModuleType("tflite_micro")
    package.runtime = runtime  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tflite_micro", package)
    monkeypatch.setitem(sys.modules, "ai_edge_litert", ModuleType("ai_edge_litert"))
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", litert)
    return opened


def test_tensors_have_the_names_of_the_graph() -> None:
    found = tensors_of(file_of(small_network()), Reading())
    assert list(found.inputs) == ["image"] and list(found.outputs) == ["scores"]
    assert {name: one.index for name, one in found.turned.items()} == {"features:nchw": 3, "pooled:nchw": 4}
    assert list(found.computed) == ["image", "features", "pooled", "flat", "logits", "scores"]


@pytest.mark.usefixtures("opened")
def test_micro_gives_every_tensor_of_every_run() -> None:
    first, second = BY_NAME["tflite-micro"].values(file_of(small_network()), Reading(), [{"image": X}, {"image": X}])
    assert (first["scores"] == 1).all() and (second["scores"] == 2).all()
    assert first["features"].shape == (1, 6, 6, 2) and first["features:nchw"].shape == (1, 2, 6, 6)
    assert (first["flat"] == 6).all() and np.array_equal(first["image"], X)


def test_litert_gives_every_tensor_and_with_xnnpack_the_outputs(opened: list[LiteRT]) -> None:
    data = file_of(small_network())
    (every,) = BY_NAME["litert"].values(data, Reading(), [{"image": X}])
    assert opened[-1].options["experimental_preserve_all_tensors"] is True
    (outputs,) = BY_NAME["litert-xnnpack"].values(data, Reading(), [{"image": X}])
    assert opened[-1].options == {"model_content": data} and list(outputs) == ["scores"]
    assert {"logits", "features:nchw", "scores"} <= every.keys() and (every["logits"] == 8).all()


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.usefixtures("opened")
def test_other_networks_of_a_file_are_not_theirs(name: str) -> None:
    with pytest.raises(ValueError, match="the first network of a file"):
        BY_NAME[name].values(file_of(small_network(), small_network()), Reading(network="1"), [{"image": X}])


@pytest.mark.parametrize("name", BY_NAME)
def test_the_packages_compute_what_the_file_says(name: str, compute: Any, run_frames: Any) -> None:
    """Not installed by the extra `test`: `pip install tilewright-tflite[peers]`."""
    pytest.importorskip(BY_NAME[name].module)
    (found,) = BY_NAME[name].values(file_of(small_network()), Reading(), [{"image": X}])
    (expected,) = compute(small_network(), X)
    assert np.abs(found["scores"].astype(int) - expected).max() <= (0 if name == "tflite-micro" else 1)
    frames = [{"x": np.int8([[step]])} for step in range(5)]
    values = BY_NAME[name].values(remembering_network(), Reading(), frames)
    ours = run_frames(remembering_network(), frames)
    assert [list(each["y"][0]) for each in values] == [list(each["y"][0]) for each in ours]
