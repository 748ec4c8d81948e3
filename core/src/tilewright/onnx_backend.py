"""Knows ONNX's interface for backends: a model is compiled to C, and runs on this machine or in a simulator.
Does not know how; `Deployment` and the runners do.

    import onnx.backend.test
    import tilewright.onnx_backend
    tests = onnx.backend.test.BackendTest(tilewright.onnx_backend.TilewrightBackend, __name__)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx.backend.base import Backend, BackendRep
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.programs.runner import Job, Runner
from tilewright.plugins import load_named
from tilewright.snapshot.atomic_folder import temporary_folder

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

TARGET = "generic"  # portable C11


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledModel(BackendRep):
    """A model as C for one target."""

    deployment: Deployment

    def run(self, inputs: Sequence[Array] | Mapping[str, Array], **kwargs: Any) -> tuple[Array, ...]:
        """One inference: inputs in the model's order, or by name; outputs in the model's order.

        TilewrightError (exit 7) where the program cannot be built or run.
        """
        names = tuple(self.deployment.inputs)
        values = inputs if isinstance(inputs, Mapping) else dict(zip(names, inputs, strict=True))
        job = Job(
            artifact=self.deployment.artifact,
            plan=self.deployment.allocated,
            prefix=self.deployment.prefix,
            input_sets=({name: values[name] for name in names},),
        )
        with temporary_folder() as folder:
            (outputs,) = self._runner().run(job, folder).outputs
        return tuple(outputs[name] for name in self.deployment.outputs)

    def _runner(self) -> Runner:
        name = self.deployment.platform.runners[0]
        runner: Runner = load_named(("runner", name)).runners[name]
        return runner


class TilewrightBackend(Backend):
    """What onnx's test runner and other users of the interface are given."""

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> CompiledModel:
        """Compile a `ModelProto`. Arguments: `target`, and those of `Options`.

        BackendIsNotSupposedToImplementIt where the model is valid and cannot be taken, so that onnx's runner skips the
        case; TilewrightError for everything else.
        """
        options = {"name": "model", **{name: value for name, value in kwargs.items() if name != "target"}}
        deployment = Deployment(model.SerializeToString(), kwargs.get("target", TARGET), Options(**options))
        try:
            deployment.compile()
        except TilewrightError as error:
            if error.exit_code is Exit.UNSUPPORTED:
                raise BackendIsNotSupposedToImplementIt(str(error)) from error
            raise
        return CompiledModel(deployment=deployment)

    @classmethod
    def run_model(cls, model: Any, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Array, ...]:
        """Compile and run once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Only "CPU": what a program runs on is its target's runner."""
        return device == "CPU"


prepare = TilewrightBackend.prepare
run_model = TilewrightBackend.run_model
supports_device = TilewrightBackend.supports_device
