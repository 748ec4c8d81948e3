"""A PyTorch module: exported with what it is called with, and refused where the file computes something else. PyTorch
is a small stand-in here; tests/models/test_torch_modules.py has the real one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from row_networks import ONE_MEMORY
from tilewright.errors import TilewrightError
from tilewright.front_door.compilation import source_of
from tilewright.front_door.pytorch import exported, is_module
from tilewright.testing.cluster import registry_for


class Tensor(np.ndarray):
    """An array with what is asked of torch's."""

    def detach(self) -> Tensor:
        return self


class Module:
    """Doubles, by its file; by itself it multiplies with `factor`."""

    factor, training = 2.0, True

    def eval(self) -> None:
        self.training = False

    def __call__(self, x: Tensor) -> Tensor:
        assert not self.training
        return (x * np.float32(self.factor)).view(Tensor)


class ExportedProgram:
    def module(self) -> Any:
        return lambda x: (x + x).view(Tensor)


def file_of(*_: object, **__: object) -> Any:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "g", [x], [y])
    return SimpleNamespace(
        model_proto=helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    )


def older(_module: object, _args: object, file: Any, **_: object) -> None:
    file.write(file_of().model_proto.SerializeToString())


def broken(*_: object, **__: object) -> None:
    raise RuntimeError("no such operator\nand more")


@contextmanager
def no_grad() -> Iterator[None]:
    yield


@pytest.fixture(name="torch", autouse=True)
def _torch(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    monkeypatch.setattr("tilewright.front_door.pytorch.load_packs", lambda: registry_for(ONE_MEMORY))
    torch = SimpleNamespace(
        nn=SimpleNamespace(Module=Module),
        export=SimpleNamespace(ExportedProgram=ExportedProgram),
        onnx=SimpleNamespace(export=file_of),
        no_grad=no_grad,
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "onnxscript", SimpleNamespace(__spec__=True))
    return torch


X = np.array([1.0, -2.0, 3.0], np.float32).view(Tensor)


@pytest.mark.parametrize("made", [Module, ExportedProgram])
def test_a_module_becomes_its_file(made: Any) -> None:
    assert is_module(made()) and not is_module("net.onnx")
    assert source_of(made(), (X,)) == file_of().model_proto.SerializeToString()


def test_without_onnxscript_the_older_exporter_does_it(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    torch.onnx.export = older
    assert exported(Module(), (X,)) == file_of().model_proto.SerializeToString()


def test_another_function_is_refused() -> None:
    module = Module()
    module.factor = 2.01
    with pytest.raises(TilewrightError) as caught:
        exported(module, (X,))
    assert caught.value.code == "TW6007" and caught.value.where == "output 'y'"
    module.factor = float("nan")
    with pytest.raises(TilewrightError, match="TW6007"):
        exported(module, (X,))


def test_what_it_is_called_with_must_be_given() -> None:
    with pytest.raises(TilewrightError, match=r"args=\(x,\)"):
        exported(Module(), None)


def test_what_torch_cannot_export_is_said_in_a_line(torch: Any) -> None:
    torch.onnx.export = broken
    with pytest.raises(TilewrightError) as caught:
        exported(Module(), (X,))
    assert (caught.value.code, caught.value.message) == ("TW1202", "PyTorch cannot export the module: no such operator")


def test_without_torch_nothing_is_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch")
    assert not is_module(Module())
