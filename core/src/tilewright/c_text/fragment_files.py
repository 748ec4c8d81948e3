"""Knows how a package keeps sections in files: C that compilers and editors read as it is, and Mako beside it.
Does not know what is in them, nor who uses them.

A file says what it needs as C does. `#include "window.h"` means the file beside it, or else the one of that name in the
core's own C, and becomes a need; `<string.h>` is included by the program; `"prelude.h"` is for compilers and editors
only, since every program begins with it.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from tilewright.ir.code_fragments import CodeFragment, FragmentTemplate

CORE = "tilewright.operators.c_code"  # whose C all packages may include
PRELUDE = "prelude.h"

_DIRECTIVE = re.compile(r'^#(?:pragma once|include (?:"(?P<file>[^"]+)"|(?P<system><[^>]+>)))\n', re.MULTILINE)


@cache
def fragment_file(package: str, path: str) -> CodeFragment:
    """The section in a `.c` or `.h` file of `package`, word for word, without its directives."""
    text, needs, includes = _parts(package, path)
    owner = _owner(package)
    return CodeFragment(name=f"{owner}/{path}", text=text, needs=needs, includes=includes, owner=owner)


@cache
def template_file(
    package: str, path: str, name: str, needs: tuple[CodeFragment | FragmentTemplate, ...] = ()
) -> FragmentTemplate:
    """The sections that the Mako in a file of `package` makes. `name` is Mako, too: what each of them defines."""
    text, included, includes = _parts(package, path)
    return FragmentTemplate(name=name, text=text, needs=(*included, *needs), includes=includes, owner=_owner(package))


def _parts(package: str, path: str) -> tuple[str, tuple[CodeFragment, ...], tuple[str, ...]]:
    text = (_folder(package) / path).read_text(encoding="ascii")
    directives = list(_DIRECTIVE.finditer(text))
    included = [match["file"] for match in directives if match["file"] and posixpath.basename(match["file"]) != PRELUDE]
    needs = (_included(package, posixpath.dirname(path), file) for file in included)
    includes = (match["system"] for match in directives if match["system"])
    return _DIRECTIVE.sub("", text).strip("\n"), tuple(needs), tuple(includes)


def _included(package: str, folder: str, name: str) -> CodeFragment:
    beside = posixpath.normpath(posixpath.join(folder, name))
    return fragment_file(package, beside) if (_folder(package) / beside).is_file() else fragment_file(CORE, name)


@cache
def _folder(package: str) -> Traversable:
    return files(package)


def _owner(package: str) -> str:
    return package.partition(".")[0]
