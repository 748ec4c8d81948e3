"""Knows the keyword arguments of `tilewright.compile`, which are the flags of the command line, as Options.
Does not know what is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypedDict, get_args, get_origin, get_type_hints

from tilewright.config.options import Options
from tilewright.config.package_facts import package_facts
from tilewright.errors import TilewrightError, usage_error
from tilewright.front_door.options_from_flags import exporters_from, options_from

Texts = str | Path | Sequence[str] | Mapping[str, Any]  # one word, several, or NAME=VALUE pairs as a mapping


class Keywords(TypedDict, total=False):
    """What `tilewright.compile` can be asked for beside model and target: the flags of `tilewright compile`, by the
    same names. Where a flag may be given several times, a keyword takes a list; where it takes NAME=VALUE, a mapping.
    """

    name: str  # C prefix of every symbol; default: the file's name, or `model`
    dim: Mapping[str, int]  # extents of symbolic dimensions; a first one that inputs share is 1
    network: str  # of a file that has several, the one of this name
    bind: Mapping[str, Any]  # inputs that are constants
    board: str | Path  # a board file, or the name of an installed memory hierarchy
    limit: Mapping[str, int | str]  # what the file may ask for, as {"tensor": "1G"}
    memory: Mapping[str, int | str]  # hard limits, as 65536 or "64K"
    pool: str | Sequence[str]  # memories instead of the target's, as "NAME:SIZE,..."
    pin: Texts  # pattern of tensors, layers or weights -> memory; or a file of decisions
    stage: Texts  # pattern of constants -> memory that they are copied to; or "auto"
    state: str | Sequence[str]  # "OUTPUT:INPUT[=VALUE]" or "auto": outputs that are inputs of the next run
    slide: str  # "INPUT[AXIS]=HOP": a call gets what is new of a window that slides
    io: Texts  # "pool" or "user" for all inputs and outputs, "push" for inputs, "pull" for outputs, or by name
    io_type: str | Mapping[str, str]  # "int8" and the like, for all inputs and outputs, or by name
    io_layout: Mapping[str, str]  # inputs and outputs -> "nhwc": handed over channels last
    set: Mapping[str, str | int]  # settings of the target
    arithmetic: str | Sequence[str] | Mapping[str, str]  # what integer layers compute, of all or by pattern
    allocator: str  # who places buffers
    tiler: str  # who cuts layers into tiles
    buffering: Literal["single", "double", "auto"]  # tile buffers of a tensor copied more than once
    groups: int  # longest chain of steps joined through the scratchpad
    optimize: Literal["speed", "balanced", "ram"]  # with one memory: how readily layers are computed by rows
    recompute: float  # with one memory: times the operations that computing columns again may take
    code_pass: str | Sequence[str]  # "NAME" or "NAME:KEY=VALUE,..."
    effort: int  # work units of the allocator
    seed: int  # of randomised strategies, and of random vectors
    clock: str | int  # of the processor, as "80MHz" or in hertz: estimated cycles are shown as milliseconds, too
    allow_external: bool  # read files with tensors below the model's folder, too; False: not even those beside it
    const_format: Literal["auto", "incbin", "c", "bin"]  # how constants are stored
    layout: Literal["single", "split"]  # kernels in the network's own file, or in a header beside it
    emit: str | Sequence[str]  # build systems to write for
    package: str  # what generated packages are called: name=..,version=..,vendor=..,licence=..,url=..
    selftest: bool  # also generate a self-test with embedded vectors
    front: bool  # the report also has memory against cycles, which takes a while
    import_state: str | Path  # folder of a stage's value that was exported: continue from it
    strict: bool  # warnings are an error


_SEVERAL = MappingProxyType(  # keyword -> what `options_from` calls the texts of that flag
    {
        "dim": "dims",
        "bind": "bound",
        "limit": "limits",
        "memory": "memory",
        "pool": "pools",
        "pin": "pins",
        "stage": "stages",
        "state": "states",
        "io": "io",
        "io_type": "io_types",
        "io_layout": "io_layouts",
        "set": "settings",
        "arithmetic": "arithmetic",
        "code_pass": "code_passes",
    }
)
_SINGLE = (  # keyword and flag alike
    *("name", "network", "slide", "allocator", "tiler", "buffering", "groups"),
    *("optimize", "recompute", "effort", "seed", "allow_external"),
)
_OF_FILES = ("const_format", "layout", "selftest")
_COUNTS = ("groups", "effort", "recompute")  # 1 or more
_PATHS = ("board", "import_state")


def options_of(keywords: Mapping[str, Any]) -> Options:
    """The Options that they describe. TilewrightError TW1101 (exit 2) for a keyword or a value that there is not."""
    for word, value in keywords.items():
        _demand(word, value)
    default = Options()
    texts = {flag: _texts(keywords.get(word, ())) for word, flag in _SEVERAL.items()}
    single = {word: keywords.get(word, getattr(default, word)) for word in _SINGLE}
    board = Path(keywords["board"]) if "board" in keywords else None
    options = options_from({**texts, **single, "board": board, "clock": str(keywords.get("clock", ""))})
    emit = exporters_from(",".join(_texts(keywords["emit"]))) if "emit" in keywords else default.emit
    package = package_facts(keywords.get("package", ""))
    return replace(
        options, emit=emit, package=package, **{word: keywords[word] for word in _OF_FILES if word in keywords}
    )


def _texts(value: Texts) -> tuple[str, ...]:
    """A flag's values as they would be typed."""
    if isinstance(value, Mapping):
        return tuple(f"{name}={item}" for name, item in value.items())
    return (str(value),) if isinstance(value, str | Path) else tuple(map(str, value))


def _demand(word: str, value: Any) -> None:
    """A keyword that there is, and a value of its kind; what is in a text is judged where it is read."""
    kinds = get_type_hints(Keywords)
    if word not in kinds:
        similar = get_close_matches(word, kinds, n=1)
        known = (f"there are {', '.join(kinds)}",)
        fix = (f"write {similar[0]}=",) if similar else ("help(tilewright.compile) says what each of them is",)
        raise usage_error("TW1101", f"compile() has no keyword '{word}'", details=known, fix=fix)
    kind = kinds[word]
    if get_origin(kind) is Literal and value not in get_args(kind):
        raise _unreadable(word, value, f"one of {', '.join(map(repr, get_args(kind)))}")
    if isinstance(kind, type) and not isinstance(value, (int, float) if kind is float else kind):
        raise _unreadable(word, value, f"a value of type {kind.__name__}")
    if word in _COUNTS and value < 1:
        raise _unreadable(word, value, "1 or more")
    if word in _PATHS and not isinstance(value, str | Path):
        raise _unreadable(word, value, "a text or a path")
    if word in (*_SEVERAL, "emit") and not isinstance(value, str | Path | Sequence | Mapping):
        raise _unreadable(word, value, "a text, a list of texts, or a mapping")


def _unreadable(word: str, value: object, wanted: str) -> TilewrightError:
    return usage_error("TW1101", f"'{word}={value!r}' cannot be read", fix=(f"give {wanted}",))
