"""Knows what a program or a notebook sees of a compilation: report, memory, files, and whether they are right.
Does not know any stage, or the command line.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, Unpack

from tilewright.allocate.limits import memory_bytes
from tilewright.deployment import Deployment
from tilewright.errors import Diagnostic, demand_no_warnings, usage_error
from tilewright.front_door.compile_keywords import Keywords, options_of
from tilewright.front_door.pytorch import exported, is_module
from tilewright.report.drawing.chart import report_svg
from tilewright.report.drawing.html import report_files
from tilewright.report.report_json import build_report
from tilewright.report.text import layer_table, summary

if TYPE_CHECKING:
    from tilewright.validation.validation import Validation


class Serialisable(Protocol):
    """An `onnx.ModelProto`, or anything else that gives its bytes as one."""

    def SerializeToString(self) -> bytes:
        """The model as the bytes of a file."""
        ...


Model = str | os.PathLike[str] | bytes | Serialisable


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUse:
    """What the plan takes of one memory, in bytes. None where the memory has no limit."""

    used_bytes: int
    limit_bytes: int | None
    free_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report:
    """What a compilation says about itself. Printed, it is what `tilewright compile` prints."""

    data: Mapping[str, Any]  # report.json
    html: str  # report.html, one file that loads nothing
    warnings: tuple[str, ...] = ()  # warnings and notes, as the command shows them

    def __str__(self) -> str:
        return "\n".join((summary(self.data), layer_table(self.data), *self.warnings))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """The summary and the picture of every memory over time, for a notebook. The picture is an image, so that its
        looks are its own.
        """
        picture = base64.b64encode(report_svg(self.data).encode()).decode()
        title = escape(f"memory plan of {self.data['model']['name']}", quote=True)
        return (
            f"<div><pre>{escape(summary(self.data))}</pre>"
            f'<img alt="{title}" style="max-width:100%" src="data:image/svg+xml;base64,{picture}"></div>'
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Compiled:
    """A network that is planned and written in C. Nothing is on disk before `write`."""

    deployment: Deployment  # the stages, for whoever needs more than this
    report: Report  # text, data, and a page
    files: Mapping[str, bytes] = field(repr=False)  # relative path -> content, as `tilewright compile` writes it

    @property
    def name(self) -> str:
        """The C prefix of every symbol."""
        return self.deployment.prefix

    @property
    def memory(self) -> Mapping[str, MemoryUse]:
        """Every memory that the plan uses, what lasts from run to run included."""
        plan = self.deployment.allocated
        limits = {pool.memory: pool.limit_bytes for pool in plan.pools}
        return {memory: _use(memory_bytes(plan, memory), limit) for memory, limit in limits.items()}

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings and notes about the model, the plan and the plugins."""
        return self.deployment.diagnostics

    def write(self, folder: str | os.PathLike[str]) -> tuple[Diagnostic, ...]:
        """Write all files and the manifest into `folder`, which is made where it is missing. Files of a run before that
        are written no more are removed, unless they were changed since: the warnings say which stay.

        Raises TilewrightError TW1107 when the folder cannot be written, or "" is none, and TW1125 where another's file
        is in the way.
        """
        from tilewright.snapshot.written_files import leftovers, write_files

        if folder == "":
            raise usage_error(
                "TW1107", "cannot write to '': it names no folder", fix=("name one, or '.' for this one",)
            )
        target = Path(folder)
        old = leftovers(target, self.files)
        write_files(target, self.files, old.stale)
        return old.diagnostics

    def validate(
        self, *, on: str = "", io: str | os.PathLike[str] | None = None, sets: int = 2, sanitize: bool = False
    ) -> Validation:
        """Build the C, run it, and compare every step with the exact reference, as `tilewright validate` does.

        `on` is a runner, by default the target's first; `io` an npz file of vectors, by default `sets` random ones.
        What is computed wrongly is no exception: look at `passed`. Raises TilewrightError: TW7001 where the runner
        cannot run here, TW6001 for vectors that do not fit.
        """
        from tilewright.validation.runner_choice import ready_runner
        from tilewright.validation.validation import validate, vectors_of

        runner = ready_runner(self.deployment, on)
        vectors = vectors_of(self.deployment, None if io is None else Path(io), sets)
        return validate(self.deployment, runner, vectors, sanitize=sanitize)

    def __str__(self) -> str:
        return str(self.report)

    def __repr__(self) -> str:
        return f"<tilewright.Compiled {self.name} for {self.deployment.target}>"

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


def compile(model: Model, target: str, *, args: Sequence[Any] | None = None, **keywords: Unpack[Keywords]) -> Compiled:
    """Plan `model` for `target` and write it in C, in memory: what `tilewright compile` does, without the disk.

    `model` is a path, the bytes of an ONNX file, an `onnx.ModelProto`, or a PyTorch module with `args`, tensors that it
    can be called with: it is exported, and compared with what the module gives on these. The keywords are the flags
    of the command line, by the same names: `memory={"ram": "64K"}`, `io="user"`, `pin={"conv*": "sram"}`; Keywords
    lists them. A `tilewright.toml` is not read. Raises TilewrightError, with the codes of the command line.
    """
    deployment = Deployment(source_of(model, args), target, options_of(keywords))
    if state := keywords.get("import_state"):
        deployment = deployment.import_state(Path(state))
    result = compiled(deployment, front=bool(keywords.get("front")))
    if keywords.get("strict"):
        demand_no_warnings(result.diagnostics, shown=False)
    return result


def compiled(deployment: Deployment, *, front: bool = False) -> Compiled:
    """`deployment`, gone through to its end. TilewrightError of whatever stage cannot be finished. `front`: its report
    has memory against cycles, too.
    """
    data = build_report(deployment, front=front, further=front)
    pages = report_files(data)
    warnings = tuple(item.render() for item in deployment.diagnostics)
    return Compiled(
        deployment=deployment,
        report=Report(data=data, html=pages["report.html"].decode(), warnings=warnings),
        files=MappingProxyType({**deployment.files, **pages}),
    )


def source_of(model: Model, args: Sequence[Any] | None = None) -> Path | bytes:
    """As a deployment takes it."""
    if is_module(model):
        return exported(model, args)
    if isinstance(model, str | os.PathLike):
        return Path(model)
    return model if isinstance(model, bytes) else model.SerializeToString()


def _use(used_bytes: int, limit_bytes: int | None) -> MemoryUse:
    free = None if limit_bytes is None else limit_bytes - used_bytes
    return MemoryUse(used_bytes=used_bytes, limit_bytes=limit_bytes, free_bytes=free)
