"""Knows how any text becomes a safe C identifier or a safe comment. Does not know what is being named.

Nothing that a model's author wrote reaches C in any other way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tilewright.c_text.reserved_words import RESERVED
from tilewright.errors import typed, usage_error

MAX_IDENTIFIER = 40  # characters; C11 promises 63 for internal and 31 for external names
MAX_COMMENT_WORD = 64
MAX_COMMENT_NAME = 1000  # characters: longer lines than C promises to read would not be far

_NOT_IDENTIFIER = re.compile(r"[^A-Za-z0-9]+")
_NOT_COMMENT = re.compile(r"[^A-Za-z0-9_./:;,()\[\]=+<> -]+")


def safe_identifier(text: str, fallback: str = "t") -> str:
    """A C and C++ identifier that looks like `text`: ASCII letters, digits and single underscores.

    It starts with a letter, is at most MAX_IDENTIFIER long and, in any case of its letters, is no keyword, library
    function or common macro. `fallback` begins names that would not start with a letter. Not unique.
    """
    words = [word for word in _NOT_IDENTIFIER.split(text) if word]
    name = "_".join(words)
    if not name[:1].isalpha() or words[0].lower() == "tw":
        name = f"{fallback}_{name}".rstrip("_")
    name = name[:MAX_IDENTIFIER].rstrip("_")
    return f"{name}_x" if name.lower() in RESERVED else name


def unique_identifiers(texts: Iterable[str], taken: Iterable[str] = (), fallback: str = "t") -> dict[str, str]:
    """Each text -> its identifier; no two differ only in the case of their letters, and none is in `taken`."""
    used = {name.lower() for name in taken}
    names: dict[str, str] = {}
    for text in dict.fromkeys(texts):
        name = stem = safe_identifier(text, fallback)
        count = 1
        while name.lower() in used:
            count += 1
            name = f"{stem}_{count}"
        used.add(name.lower())
        names[text] = name
    return names


def prefix_from_file(stem: str) -> str:
    """The prefix of every external name of a model, from its file name without the suffix. Lower case."""
    return safe_identifier(stem, fallback="net").lower()


def prefix_problem(prefix: str) -> str | None:
    """None, or why a prefix that the user chose cannot be one."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*", prefix):
        return "it must be letters, digits and single underscores, and start with a letter"
    if len(prefix) > MAX_IDENTIFIER:
        return f"it must be at most {MAX_IDENTIFIER} characters long"
    if prefix.lower() in RESERVED:
        return "it is a word of C, C++ or the standard library"
    if prefix.lower().startswith("tw_") or prefix.lower() == "tw":
        return "names that start with tw belong to tilewright"
    return None


def demand_prefix(prefix: str) -> None:
    """TilewrightError TW1004 (exit 2) for a prefix that C or the linker would not take."""
    problem = prefix_problem(prefix)
    if problem:
        raise usage_error(
            "TW1004",
            f"'{comment_text(prefix)}' cannot begin the names of the generated C: {problem}",
            fix=(typed("--name", prefix_from_file(prefix)),),
        )


def comment_text(text: str, most: int = MAX_COMMENT_WORD) -> str:
    """`text` with nothing in it that could end or change a C comment; longer ones than `most` lose their middle."""
    clean = re.sub("/{2,}", "/", _NOT_COMMENT.sub("_", text))
    half = most // 2 - 2
    return clean if len(clean) <= most else f"{clean[:half]}...{clean[-half:]}"


def comment_name(text: str) -> str:
    """The same for a name from the model, which stays whole, so that it can be searched."""
    return comment_text(text, MAX_COMMENT_NAME)
