"""Knows how a text becomes a Mako template, and the folder in which Mako keeps what it made of it.
Does not know which templates there are, nor what they are given.

Mako needs 4 ms for a text; with its `module_directory` it does so once for each user. It compiles files, so a text is
one there, named by the digest of all that decides what becomes of it: no version meets another one's module.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mako.template import Template


@lru_cache(maxsize=512)
def template(text: str, *, html: bool = False) -> Template:
    """A Mako template in which an undefined name is an error. `html`: what it shows is escaped."""
    from mako.template import Template

    options = {"strict_undefined": True, "default_filters": ["h" if html else "str"]}
    with suppress(OSError):  # without a folder that can be written, the text is compiled each time
        file = _as_file(text, html)
        return Template(
            filename=str(file),
            uri=file.stem,
            module_directory=str(file.parent),
            module_writer=_write_whole,
            **options,
        )
    return Template(text, uri="template", **options)


def cache_folder() -> Path:
    """Where templates are kept: `$XDG_CACHE_HOME/tilewright/templates`, or below `~/.cache`. OSError without a home."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    if not base.is_absolute():  # as its specification says; and `~`, where nobody says where that is
        raise FileNotFoundError(f"{base} is no absolute path")
    return base / "tilewright" / "templates"


def _as_file(text: str, html: bool) -> Path:
    from mako import __version__

    digest = sha256(repr((text, html, __version__)).encode()).hexdigest()
    file = cache_folder() / f"{digest}.mako"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        _write_whole(text.encode(), str(file))
    return file


def _write_whole(content: bytes, path: str) -> None:
    """A file whole or not at all: others may read it, or write the same."""
    with tempfile.TemporaryDirectory(dir=Path(path).parent) as scratch:
        made = Path(scratch) / "made"
        made.write_bytes(content)
        os.replace(made, path)
