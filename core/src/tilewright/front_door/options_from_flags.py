"""Knows the words in which a compilation is asked for, on the command line and in Python, and the Options they become.
Does not know who typed them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, get_args

from tilewright.config.clock import parse_clock
from tilewright.config.graph_io import CHANNELS_LAST, FLOAT, LAYOUTS, TYPES
from tilewright.config.memory_pools import PoolSpec, parse_bytes, parse_pool
from tilewright.config.memory_rules import AUTO, CopyRule, parse_copy
from tilewright.config.options import Options
from tilewright.errors import TilewrightError, typed, usage_error
from tilewright.front_door.board_choice import board_from
from tilewright.ir.machines.board import Board
from tilewright.ir.plans.decisions import Decisions, IoOwner


def options_from(flags: Mapping[str, Any]) -> Options:
    """The Options that `model_flags` describe. TilewrightError (exit 2) for what cannot be read."""
    described, hierarchy = board_from(flags["board"])
    io_inputs, io_outputs, io_of = io_from(flags["io"])
    io_type, io_type_of = io_types_from(flags["io_types"])
    return replace(
        reading_options_from(flags),
        name=flags["name"],
        board=described,
        memory_hierarchy=hierarchy,
        pools=pools_from(flags),
        memory={name: parse_bytes(value) for name, value in _pairs("--memory", flags["memory"])},
        settings=dict(_pairs("--set", flags["settings"])),
        arithmetic=tuple(map(_arithmetic, flags["arithmetic"])),
        io_inputs=io_inputs,
        io_outputs=io_outputs,
        io_of=io_of,
        io_type=io_type,
        io_type_of=io_type_of,
        io_layouts=io_layouts_from(flags["io_layouts"]),
        memory_pins=memory_pins_from(flags["pins"], described),
        constant_copies=copies_from(flags["stages"], described),
        choose_constant_copies=AUTO in flags["stages"],
        states=flags["states"],
        allocator=flags["allocator"],
        tiler=flags["tiler"],
        buffering=flags["buffering"],
        groups=flags["groups"],
        optimize=flags["optimize"],
        recompute=flags["recompute"],
        code_passes=_code_passes(flags["code_passes"]),
        effort=flags["effort"],
        clock_hz=parse_clock(flags["clock"]) if flags["clock"] else described.clock_hz if described else None,
        pins=decisions_from(flags["pins"]),
    )


def reading_options_from(flags: Mapping[str, Any]) -> Options:
    """Only what a model is read and called with, and the seed. TilewrightError (exit 2) for what cannot be read."""
    return Options(
        dims={name: _natural(name, value) for name, value in _pairs("--dim", flags["dims"])},
        bind=dict(_pairs("--bind", flags["bound"])),
        slide=flags["slide"],
        network=flags["network"],
        limits=limits_from(flags["limits"]),
        allow_external=flags["allow_external"],
        seed=flags["seed"],
    )


def pools_from(flags: Mapping[str, Any]) -> tuple[PoolSpec, ...]:
    """The pools of all flags `--pool`. TilewrightError TW1101 (exit 2) for what cannot be read."""
    return tuple(parse_pool(text) for text in flags["pools"])


def limits_from(texts: Sequence[str]) -> dict[str, int]:
    """What `--limit` says. TilewrightError TW1101 (exit 2) for what cannot be read."""
    return {name: parse_bytes(value) for name, value in _pairs("--limit", texts)}


def exporters_from(emit: str) -> tuple[str, ...]:
    """The exporters that `--emit` names, each once."""
    return names_from("--emit", emit, "cmake,make")


def names_from(flag: str, text: str, example: str) -> tuple[str, ...]:
    """The names of a list, each once. TilewrightError TW1101 (exit 2) where one is empty; `example` is a right list."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if not all(names):
        fix = f"write it as {flag} {example}     (names and commas)"
        raise usage_error("TW1101", f"'{flag} {text}' cannot be read", fix=(fix,))
    return names


def io_from(texts: Sequence[str]) -> tuple[IoOwner, IoOwner, dict[str, IoOwner]]:
    """What holds for all inputs, for all outputs, and for those that were named. The last word of each counts:
    `push` is about inputs, `pull` about outputs, the others are about both.
    """
    inputs: IoOwner = "pool"
    outputs: IoOwner = "pool"
    named: dict[str, IoOwner] = {}
    for text in texts:
        name, equals, owner = text.rpartition("=")
        if owner not in get_args(IoOwner) or (equals and not name):
            raise usage_error(
                "TW1101",
                f"'--io {text}' cannot be read",
                fix=(
                    typed("--io", "user"),
                    "write it as --io NAME=user for one of them: pool, user, push, pull",
                ),
            )
        if name:
            named[name] = cast(IoOwner, owner)
            continue
        inputs = cast(IoOwner, owner) if owner != "pull" else inputs
        outputs = cast(IoOwner, owner) if owner != "push" else outputs
    return inputs, outputs, named


def io_types_from(texts: Sequence[str]) -> tuple[str, dict[str, str]]:
    """What holds for all inputs and outputs, and what for those that were named. The last word of each counts."""
    rest, named = FLOAT, dict[str, str]()
    for text in texts:
        name, equals, word = text.rpartition("=")
        if word not in (*TYPES, FLOAT) or (equals and not name):
            raise usage_error(
                "TW1101",
                f"'--io-type {text}' cannot be read",
                details=(f"TYPE is one of {', '.join((*TYPES, FLOAT))}",),
                fix=("write it as --io-type TYPE, or --io-type NAME=TYPE for one input or output",),
            )
        if name:
            named[name] = word
        else:
            rest = word
    return rest, named


def io_layouts_from(texts: Sequence[str]) -> dict[str, str]:
    """What was said of inputs and outputs by name."""
    layouts = dict(_pairs("--io-layout", texts))
    for name, word in layouts.items():
        if word not in LAYOUTS:
            raise usage_error(
                "TW1101",
                f"'--io-layout {name}={word}' cannot be read",
                details=(f"a layout is one of {', '.join(LAYOUTS)}",),
                fix=(typed("--io-layout", f"{name}={CHANNELS_LAST}"),),
            )
    return layouts


def memory_pins_from(texts: Sequence[str], board: Board | None) -> tuple[tuple[str, str], ...]:
    """The patterns of a board, then those of `--pin`: later ones overrule."""
    pins = [pair_of("--pin", text) for text in texts if not is_file(text)]
    return (*(board.pins if board else ()), *pins)


def copies_from(texts: Sequence[str], board: Board | None) -> tuple[CopyRule, ...]:
    """The copies of a board, then those of `--stage`: later ones overrule. `auto` is none of them."""
    rules = [f"{pattern}={pool}" for pattern, pool in (board.constant_copies if board else ())]
    return tuple(parse_copy(text) for text in (*rules, *texts) if text != AUTO)


def decisions_from(texts: Sequence[str]) -> Decisions:
    """What the files given with `--pin` decide, later ones overruling. TilewrightError TW1106 (exit 2)."""
    decisions = Decisions()
    for text in texts:
        if is_file(text):
            decisions = decisions.pinned_by(_decisions(Path(text)))
    return decisions


def files_read(flags: Mapping[str, Any]) -> tuple[Path, ...]:
    """The files that `model_flags` name beside a group's: MODEL and the files with its tensors, a board, decisions,
    arrays of inputs and of state.
    """
    from tilewright.frontend.reading.model_digest import files_beside

    named = [str(flags[name]) for name in ("model", "board") if flags[name] is not None]
    named += [text for text in flags["pins"] if is_file(text)]
    named += [text.partition("=")[2] for text in (*flags["bound"], *flags["states"]) if text.endswith(".npy")]
    return (*map(Path, named), *(files_beside(flags["model"]) if flags["model"] is not None else ()))


def is_file(text: str) -> bool:
    """Whether a `--pin` names a file: PATTERN=POOL has an equals sign."""
    return "=" not in text or text.endswith(".json")


def pair_of(flag: str, text: str) -> tuple[str, str]:
    """`NAME=VALUE`, split at the last equals sign of a name that may have several. TW1101 (exit 2)."""
    name, equals, value = text.rpartition("=")
    if not name or not equals or not value:
        raise usage_error("TW1101", f"'{flag} {text}' cannot be read", fix=(f"write it as {flag} NAME=VALUE",))
    return name, value


def _decisions(file: Path) -> Decisions:
    from tilewright.snapshot.saved_stage import PINS_FORM, decisions_from_json

    try:
        return decisions_from_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        if file.suffix != ".json" and not file.exists():
            raise _no_pin(str(file)) from error
        reason = error.strerror or str(error)
    except UnicodeDecodeError:
        reason = "it is no UTF-8 text"
    raise usage_error(
        "TW1106",
        f"cannot read the pinned decisions: {reason}",
        where=str(file),
        fix=("write --pin PATTERN=POOL to keep a tensor or layer in a memory", PINS_FORM),
    )


def _no_pin(text: str) -> TilewrightError:
    """The error TW1106 (exit 2) for a pattern without a memory."""
    from tilewright.snapshot.saved_stage import PINS_FORM

    return usage_error(
        "TW1106",
        f"'--pin {text}' says no memory, and is no file of decisions",
        fix=(f"write --pin {text}=POOL to keep what is called so in a memory", PINS_FORM),
    )


def _arithmetic(text: str) -> tuple[str, str]:
    """`NAME` for all integer layers, or `PATTERN=NAME` for some. TilewrightError TW1101 (exit 2)."""
    return pair_of("--arithmetic", text) if "=" in text else ("*", text)


def _pairs(flag: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals or not value:
            raise usage_error("TW1101", f"'{flag} {text}' cannot be read", fix=(f"write it as {flag} NAME=VALUE",))
        before = dict(pairs).get(name, value)
        if before != value:
            raise usage_error(
                "TW1101",
                f"'{flag} {name}=' is given twice, as {before} and as {value}",
                fix=(f"leave one out: {flag} {name}={value}",),
            )
        pairs.append((name, value))
    return pairs


def _code_passes(texts: Sequence[str]) -> dict[str, dict[str, str]]:
    """By name. TilewrightError TW1101 (exit 2) where one is asked for twice with other settings."""
    passes: dict[str, dict[str, str]] = {}
    for name, settings in map(_code_pass, texts):
        if passes.setdefault(name, settings) != settings:
            raise usage_error(
                "TW1101",
                f"'--code-pass {name}' is given twice, with other settings",
                fix=("write all settings of a pass once: --code-pass NAME:KEY=VALUE,KEY=VALUE",),
            )
    return passes


def _code_pass(text: str) -> tuple[str, dict[str, str]]:
    """`NAME` or `NAME:KEY=VALUE,KEY=VALUE`."""
    name, _, rest = text.partition(":")
    pairs = [item.partition("=") for item in rest.split(",") if rest]
    if not name or any(not key or not equals for key, equals, _ in pairs):
        raise usage_error(
            "TW1101", f"'--code-pass {text}' cannot be read", fix=("write it as --code-pass NAME:KEY=VALUE,KEY=VALUE",)
        )
    return name, {key: value for key, _, value in pairs}


def _natural(name: str, text: str) -> int:
    if not text.isdecimal():
        raise usage_error(
            "TW1101",
            f"'--dim {name}={text}' cannot be read",
            fix=(typed("--dim", f"{name}=1", gives="a whole number, 0 or more"),),
        )
    return int(text)
