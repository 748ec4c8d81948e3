"""Knows how a PyTorch module becomes an ONNX file, and that this computes what the module does. PyTorch is imported by
who has a module, never by tilewright. Does not know what is compiled of it.

Source: torch.onnx.export, https://docs.pytorch.org/docs/stable/onnx.html.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from io import BytesIO
from typing import Any

import numpy as np

from tilewright.comparison.reference import run
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError, usage_error
from tilewright.plugins.loading import load_packs

# Of the largest output: what float32 in another order makes of deep networks, and no wrong operator does.
_RELATIVE = 1e-3


def is_module(model: object) -> bool:
    """Whether it is a `torch.nn.Module`, or what `torch.export` makes of one."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, (torch.nn.Module, torch.export.ExportedProgram))


def exported(module: Any, args: Sequence[Any] | None) -> bytes:
    """The ONNX file of a module that is called with `args`, computing what it does on these: TilewrightError TW6007
    (exit 6) where not, TW1101 (exit 2) without `args`, TW1202 (exit 3) where PyTorch cannot export it.
    """
    if args is None:
        raise usage_error(
            "TW1101",
            "a PyTorch module is compiled for inputs of one shape, and none was given",
            fix=("tilewright.compile(module, target, args=(x,)), with tensors that it can be called with",),
        )
    torch = sys.modules["torch"]
    with torch.no_grad():
        if isinstance(module, torch.nn.Module):
            module.eval()
        expected = _callable(module)(*args)
        model = _onnx_of(module, tuple(args))
    _demand_same(model, args, expected)
    return model


def _onnx_of(module: Any, args: tuple[Any, ...]) -> bytes:
    """By torch's newer exporter; by its older one where onnxscript, which the newer one needs, is not installed."""
    torch = sys.modules["torch"]
    try:
        if find_spec("onnxscript"):
            data: bytes = torch.onnx.export(module, args, dynamo=True, verbose=False).model_proto.SerializeToString()
        else:
            file = BytesIO()
            torch.onnx.export(module, args, file, dynamo=False)
            data = file.getvalue()
    except Exception as error:  # whatever the exporter raises
        raise TilewrightError(
            "TW1202",
            f"PyTorch cannot export the module: {str(error).strip().splitlines()[0]}",
            type(module).__name__,
            fix=("export it yourself with torch.onnx.export, and compile the file",),
            exit_code=Exit.MODEL,
        ) from error
    return data


def _callable(module: Any) -> Any:
    torch = sys.modules["torch"]
    return module if isinstance(module, torch.nn.Module) else module.module()


def _demand_same(model: bytes, args: Sequence[Any], expected: Any) -> None:
    deployment = Deployment(model, "", None, load_packs())
    graph = deployment.imported.graph
    inputs = {name: np.asarray(tensor.detach()) for name, tensor in zip(graph.inputs, args, strict=False)}
    values = run(graph, inputs, deployment.registry.operators)
    wanted = expected if isinstance(expected, tuple | list) else (expected,)
    for name, tensor in zip(graph.outputs, wanted, strict=False):
        theirs = np.asarray(tensor.detach(), np.float64)
        difference = np.max(np.abs(values[name].astype(np.float64) - theirs), initial=0.0)
        if not difference <= _RELATIVE * np.max(np.abs(theirs), initial=1.0):
            raise TilewrightError(
                "TW6007",
                "the exported network computes something else than the module",
                f"output '{name}'",
                (f"they differ by {difference:.3g} on the arguments that were given",),
                ("see whether the module draws random numbers, or depends on values; else report it, with the module",),
                Exit.MISMATCH,
            )
