"""Flags drawn by a seed: whichever they are, the generated program gives the right numbers, or there is a refusal that
has a code and a next step; and what it says would fit does.

Each seed is one command line `tilewright validate ...` with one to five flags, whose values are names of the network
and of the target, sizes, and now and then nonsense; the network is one of the models, or a graph of `float_tiles.py`.
"""

from __future__ import annotations

import argparse
import random
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import onnx
from click.testing import CliRunner

from fuzzing.float_tiles import written
from fuzzing.frame import Fuzz, Outcome
from tilewright.api.platform import Platform
from tilewright.cli.main import tilewright
from tilewright.errors import Exit, TilewrightError
from tilewright.plugins import load_for

SIZES = ("1", "1K", "3000", "6000", "12K", "20000", "50K", "128K", "4M")
TILERS = ("auto", "cost", "min", "max", "random-max", "whole")
ALLOCATORS = ("auto", "best-fit", "greedy-by-size", "hill-climb", "minimalloc", "stacking")
MOST_FLAGS = 5
FIXABLE = (Exit.USAGE, Exit.DOES_NOT_FIT)  # what other flags may mend
FAILED = (Exit.INTERNAL, Exit.MISMATCH, Exit.TOOLCHAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What flags may name, and who chooses."""

    numbers: random.Random
    inputs: Sequence[str]
    outputs: Sequence[str]
    values: Sequence[str]
    constants: Sequence[str]
    nodes: Sequence[str]
    memories: Sequence[str]
    settings: Mapping[str, Sequence[str]]  # setting of the target -> its choices

    def one(self, *words: str) -> str:
        """One of these."""
        return self.numbers.choice(words)

    @property
    def memory(self) -> str:
        """A memory of the target."""
        return self.one(*self.memories)

    @property
    def anything(self) -> str:
        """Whatever is in the network, or not."""
        return self.one(*self.values, *self.inputs, *self.constants, "nothing")

    @property
    def end(self) -> str:
        """An input or an output."""
        return self.one(*self.inputs, *self.outputs)


def names_of(model: onnx.ModelProto, platform: Platform, numbers: random.Random) -> Names:
    """What a network and a target have."""
    graph = model.graph
    constants = [value.name for value in graph.initializer]
    return Names(
        numbers=numbers,
        inputs=[value.name for value in graph.input if value.name not in constants],
        outputs=[value.name for value in graph.output],
        values=[name for node in graph.node for name in node.output if name],
        constants=constants,
        nodes=[node.name or node.output[0] for node in graph.node],
        memories=[memory.name for memory in platform.memories],
        settings={option.name: option.choices for option in platform.options},
    )


def _place(names: Names) -> str:
    where = names.one("user", "pool", "push", "pull")
    return names.one(where, f"{names.end}={where}")


def _setting(names: Names) -> str:
    name = names.one(*names.settings, "nothing")
    return f"{name}={names.one(*names.settings.get(name, ()), '1', '4')}"


def _pool(names: Names) -> str:
    size = names.one(*SIZES)
    return names.one(f"{names.memory}:{size}", f"fast:{size}", f"rom:{size},ro", f"{names.memory}:{size},soft")


FLAGS: Sequence[tuple[str, Callable[[Names], str]]] = (  # what is worth more looks stands here twice
    ("--memory", lambda names: f"{names.memory}={names.one(*SIZES)}"),
    ("--memory", lambda names: f"{names.memory}={names.one(*SIZES)}"),
    ("--pin", lambda names: f"{names.anything}={names.memory}"),
    ("--pin", lambda names: f"{names.one(*names.nodes)}*={names.memory}"),
    ("--stage", lambda names: names.one("auto", f"{names.anything}={names.memory}{_when(names)}")),
    ("--place-io", _place),
    ("--io-type", lambda names: names.one("int8", "uint8", "int16", f"{names.end}=int8")),
    ("--optimize", lambda names: names.one("ram", "balanced")),
    ("--groups", lambda names: names.one("1", "2", "3")),
    ("--tiler", lambda names: names.one(*TILERS)),
    ("--allocator", lambda names: names.one(*ALLOCATORS)),
    ("--buffering", lambda names: names.one("single", "double")),
    ("--effort", lambda names: names.one("1", "100", "5000")),
    ("--recompute", lambda names: names.one("1.1", "1.5")),
    ("--set", _setting),
    ("--pool", _pool),
    ("--bind", lambda names: f"{names.one(*names.inputs)}=0"),
    ("--state", lambda names: f"{names.one(*names.outputs)}:{names.one(*names.inputs)}{names.one('', '=0', '=1')}"),
    ("--code-pass", lambda names: names.one("lifetimes", "profile", "print-tensors", "passthrough")),
    ("--layout", lambda names: "split"),
    ("--sets", lambda names: "3"),
)


def _when(names: Names) -> str:
    return names.one("", ",when=init", ",when=use")


def command(file: Path, platform: Platform, numbers: random.Random, on: str | None = None) -> list[str]:
    """A command line with some flags."""
    names = names_of(onnx.load(file), platform, numbers)
    flags = numbers.choices(FLAGS, k=numbers.randint(1, MOST_FLAGS))
    words = [word for flag, value in flags for word in (flag, value(names))]
    return [
        "validate",
        str(file),
        "--target",
        platform.name,
        *words,
        "--on",
        on or ("twin" if platform.inner else "host"),
    ]


def ended(words: Sequence[str]) -> tuple[str, str]:
    """How a command ended, and what is wrong with that."""
    error = CliRunner().invoke(tilewright, words).exception
    if error is None:
        return "right", ""
    if not isinstance(error, TilewrightError):
        return ("usage", "") if isinstance(error, SystemExit) and error.code == Exit.USAGE else ("failed", repr(error))
    what = f"{error.exit_code.name.lower()}, {error.code}"
    if error.exit_code in FAILED:
        return "failed", f"{what}: {error.message} {'; '.join(error.details)}"
    if error.exit_code in FIXABLE and not (error.fix or error.details):
        return "failed", f"{what}: no next step: {error.message}"
    for flags in promised(error):
        again = CliRunner().invoke(tilewright, changed(words, flags)).exception
        if again is not None:
            return "failed", f"{what}: says that {shlex.join(flags)} fits: {again!r}"
    return what, ""


def changed(words: Sequence[str], flags: Sequence[str]) -> list[str]:
    """A command line with other limits, and with flags that it has not."""
    anew = {word.partition("=")[0] for flag, word in pairwise(flags) if flag == "--memory"}
    old = {at for at, word in enumerate(words) if words[at - 1] == "--memory" and word.partition("=")[0] in anew}
    return [*(word for at, word in enumerate(words) if at not in old and at + 1 not in old), *flags]


def promised(error: TilewrightError) -> Iterator[list[str]]:
    """The flags of which a refusal says that with them it fits."""
    for step in error.fix:
        if match := re.fullmatch(r"(--.+?) {2,}.*-> fits.*", step):
            yield shlex.split(match[1])


def flags(parser: argparse.ArgumentParser) -> None:
    """Where programs run, and of which networks."""
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--target", default="siracusa")
    parser.add_argument("--on", help="where the programs run; default: the twin of several cores, or this machine")


def outcomes(seeds: Sequence[int], arguments: argparse.Namespace, folder: Path) -> Iterator[Outcome]:
    """How the command lines ended."""
    platform = load_for(target=arguments.target).platforms[arguments.target]
    for seed in seeds:
        numbers, file = random.Random(seed), folder / f"graph{seed}.onnx"
        if arguments.models:
            file = Path(numbers.choice(arguments.models))
        elif not written(seed, file):
            continue
        words = command(file, platform, numbers, arguments.on)
        what, why = ended(words)
        yield Outcome(f"seed {seed}: {shlex.join(words)}", what, why)


FUZZ = Fuzz(about=__doc__ or "", outcomes=outcomes, flags=flags)
