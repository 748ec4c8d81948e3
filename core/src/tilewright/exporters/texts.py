"""Knows how the texts of exporters are filled: Mako templates beside this module. Does not know any of them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from tilewright import __version__
from tilewright.c_text.templates import template

if TYPE_CHECKING:
    from tilewright.ir.plans.stages import Artifact


def render(name: str, artifact: Artifact, **more: object) -> str:
    """The template of that name, which sees the `library`, its `package`, both prefixes and `more`."""
    return str(
        template(_text(name)).render(
            library=artifact,
            package=artifact.package,
            called=artifact.package.name or artifact.prefix,
            version=__version__,
            p=artifact.prefix,
            P=artifact.prefix.upper(),
            **more,
        )
    )


@cache
def _text(name: str) -> str:
    return (files("tilewright.exporters") / "text" / name).read_text(encoding="utf-8")
