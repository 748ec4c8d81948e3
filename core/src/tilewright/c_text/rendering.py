"""Knows how a kernel's Mako text becomes C. Does not know which kernels a program has or where operands live."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tilewright.ir.kernel import Call, Kernel

if TYPE_CHECKING:
    from mako.template import Template


@lru_cache(maxsize=512)
def template(text: str) -> Template:
    """A compiled Mako template in which an undefined name is an error."""
    from mako.template import Template

    return Template(text, strict_undefined=True)


def render_source(kernel: Kernel, call: Call) -> str:
    """The C at file scope that `call` needs. Equal texts of different calls are emitted once."""
    return str(template(kernel.source).render(**kernel.values(call))).strip("\n") if kernel.source else ""


def render_call(kernel: Kernel, call: Call) -> str:
    """The statement that computes one tile."""
    names: dict[str, object] = {**call.operands, "loops": call.extents, **kernel.values(call)}
    return str(template(kernel.call).render(**names)).strip()


def render_wait(kernel: Kernel, call: Call) -> str:
    """The statement that waits for an asynchronous kernel; empty for the others."""
    names: dict[str, object] = {**call.operands, "loops": call.extents, **kernel.values(call)}
    return str(template(kernel.wait).render(**names)).strip() if kernel.wait else ""
