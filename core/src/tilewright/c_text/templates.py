"""Knows how the text of a template becomes a function that renders it, and keeps what Mako made of the text.
Does not know which templates there are, nor what they are given.

Mako needs 4 ms for a text, and 25 to be imported. What it made is bytecode; it is kept where Python keeps that of this
module, under the same switches: PYTHONDONTWRITEBYTECODE, PYTHONPYCACHEPREFIX, and folders that cannot be written. The
name of a file is the digest of all that decides what is in it, so that it is of this text or is not found.
"""

from __future__ import annotations

import io
import marshal
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from types import CodeType
from typing import Any


@dataclass(frozen=True, slots=True)
class Template:
    """Mako's function `render_body`."""

    body: Callable[..., object]

    def render(self, **names: object) -> str:
        """The text for these names. NameError where it has another one."""
        from mako.runtime import Context

        buffer = io.StringIO()
        self.body(Context(buffer, **names), **names)
        return buffer.getvalue()


@lru_cache(maxsize=512)
def template(text: str, *, html: bool = False) -> Template:
    """A Mako template in which an undefined name is an error. `html`: what it shows is escaped."""
    kept = kept_in(text, html=html)
    code = _read(kept) if kept else None
    if code is None:
        code = _compiled(text, html)
        if kept and not sys.dont_write_bytecode:
            _write(kept, code)
    names: dict[str, Any] = {}
    exec(code, names)
    return Template(body=names["render_body"])


def kept_in(text: str, *, html: bool = False) -> Path | None:
    """The file for what this Mako and this Python make of a text; None where Python keeps no bytecode."""
    from mako import __version__

    try:
        home = Path(cache_from_source(__file__))
    except NotImplementedError:  # how Python says that it keeps no bytecode: then the text is compiled each time
        return None
    digest = sha256(repr((text, html, __version__, MAGIC_NUMBER)).encode()).hexdigest()
    return home.with_name(f"template-{digest}{home.suffix}")


def _compiled(text: str, html: bool) -> CodeType:
    from mako.template import Template as Compiler

    made = Compiler(text, uri="template", strict_undefined=True, default_filters=["h" if html else "str"])
    code: CodeType = compile(made.code, "<template>", "exec", dont_inherit=True)
    return code


def _read(path: Path) -> CodeType | None:
    """What `_write` wrote; None where it did not, or where anything of it is missing or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    seal, bytecode = content[:32], content[32:]
    return marshal.loads(bytecode) if seal == _seal(path, bytecode) else None


def _write(path: Path, code: CodeType) -> None:
    """Whole or not at all, as readers may be there; nothing where the folder cannot be written."""
    bytecode = marshal.dumps(code)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(_seal(path, bytecode) + bytecode)
        os.replace(beside, path)


def _seal(path: Path, bytecode: bytes) -> bytes:
    """By which a file shows that it is whole, and has the name that it was given."""
    return sha256(path.name.encode() + bytecode).digest()
