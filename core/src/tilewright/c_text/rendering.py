"""Knows how a kernel's Mako text becomes C. Does not know which kernels a program has or where operands live."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from tilewright.ir.kernel import Call, Kernel
from tilewright.ir.sections import Section, SectionTemplate

if TYPE_CHECKING:
    from mako.template import Template


@lru_cache(maxsize=512)
def template(text: str) -> Template:
    """A compiled Mako template in which an undefined name is an error."""
    from mako.template import Template

    return Template(text, strict_undefined=True)


def render_source(kernel: Kernel, call: Call) -> tuple[Section, ...]:
    """The C at file scope that `call` needs, with what that needs in turn. Programs have equal sections once."""
    if not kernel.source:
        return ()
    values = kernel.values(call)
    if isinstance(kernel.source, str):
        text = str(template(kernel.source).render(**values)).strip("\n")
        return (Section(name="", text=text, owner=kernel.name),) if text else ()
    source = kernel.source(values) if callable(kernel.source) else kernel.source
    return tuple(_rendered(one, values) for one in source)


def _rendered(source: Section | SectionTemplate, values: Mapping[str, object]) -> Section:
    if isinstance(source, Section):
        return source
    names = {**values, **dict(source.given)}
    return Section(
        name=str(template(source.name).render(**names)),
        text=str(template(source.text).render(**names)).strip("\n"),
        needs=tuple(_rendered(need, names) for need in source.needs),
        includes=source.includes,
        owner=source.owner,
    )


def render_call(kernel: Kernel, call: Call) -> str:
    """The statement that computes one tile."""
    names: dict[str, object] = {**call.operands, "loops": call.extents, **kernel.values(call)}
    return str(template(kernel.call).render(**names)).strip()


def render_wait(kernel: Kernel, call: Call) -> str:
    """The statement that waits for an asynchronous kernel; empty for the others."""
    names: dict[str, object] = {**call.operands, "loops": call.extents, **kernel.values(call)}
    return str(template(kernel.wait).render(**names)).strip() if kernel.wait else ""
