"""TensorFlow Lite files, changed in a few places: each is compiled or refused with a code, in little time and memory.

A seed changes one to four numbers of one of the MODELS (that of the example, without any), and cuts every tenth file. A
process of its own reads it, one in FULL compiles what came in. Wrong are errors that are no refusal of the file, more
than CPU_SECONDS to read it, and more than MEMORY.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import struct
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

import tilewright
from fuzzing.frame import Fuzz, Outcome
from tilewright.errors import Exit, TilewrightError
from tilewright.frontend.load import load
from tilewright.plugins import load_for
from tilewright.plugins.registry import Registry

CPU_SECONDS, MEMORY = 5, 512 << 20
FULL = 20
HEAD = 4000  # bytes at both ends, where tables are: as often changed as all the rest
VALUES = (0, 1, -1, 2, 127, -128, 2**15 - 1, 2**31 - 1, -(2**31))
REFUSED = (Exit.USAGE, Exit.MODEL, Exit.UNSUPPORTED, Exit.DOES_NOT_FIT)
EXAMPLE = Path(__file__).parents[2] / "examples" / "digits" / "digits_int8.tflite"


def mutant(content: bytes, seed: int) -> bytes:
    """The file with a few numbers changed."""
    numbers, changed = random.Random(seed), bytearray(content)
    last = len(changed) - 8
    for _ in range(numbers.randint(1, 4)):
        form = numbers.choice("bbhiiq")
        bits = 8 * struct.calcsize(form)
        ends = numbers.randrange(min(HEAD, last)), last - numbers.randrange(min(HEAD, last))
        value = numbers.choice((*VALUES, numbers.randrange(2**16)))
        fitting = (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
        struct.pack_into(f"<{form}", changed, numbers.choice((numbers.randrange(last), *ends)), fitting)
    return bytes(changed[: numbers.randrange(last)] if seed % 10 == 9 else changed)


def ended(file: Path, registry: Registry, *, whole: bool) -> tuple[str, str]:
    """How a process ended that read the file, and what is wrong with that."""
    child = os.fork()
    if not child:
        os._exit(_read(file, registry, whole=whole))
    _, status, use = os.wait4(child, 0)
    code, seconds = os.waitstatus_to_exitcode(status), use.ru_utime + use.ru_stime
    if code not in (Exit.OK, *REFUSED):
        return f"exit {code}", "neither compiled nor refused"
    if (seconds > CPU_SECONDS and not whole) or use.ru_maxrss << 10 > MEMORY:
        return "costly", f"{seconds:.1f} CPU seconds, {use.ru_maxrss >> 10} MiB"
    return Exit(code).name.lower(), ""


def _read(file: Path, registry: Registry, *, whole: bool) -> int:
    resource.setrlimit(resource.RLIMIT_CPU, (20 * CPU_SECONDS, 20 * CPU_SECONDS))
    try:
        if whole:
            tilewright.compile(file, "generic")
        else:
            load(file, None, registry.operators, registry.importers.values(), registry.dialects.values()).graph.verify()
    except TilewrightError as error:
        return error.exit_code
    except BaseException:  # also what stops an interpreter: nothing but a refusal is right
        traceback.print_exc()
        return Exit.INTERNAL
    return Exit.OK


def outcomes(seeds: Sequence[int], arguments: argparse.Namespace, folder: Path) -> Iterator[Outcome]:
    """What became of every mutant."""
    registry = load_for(target="generic", welcome=[("importer", "tflite")])
    models = arguments.models or [EXAMPLE]
    for seed in seeds:
        model = models[seed % len(models)]
        file = folder / f"{model.stem}_{seed}.tflite"
        file.write_bytes(mutant(model.read_bytes(), seed))
        how, wrong = ended(file, registry, whole=seed % FULL == 0)
        yield Outcome(f"{model.stem}, seed {seed}", how, wrong, row=model.stem, sums={how: 1})


def _flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("models", nargs="*", type=Path, metavar="MODELS")


FUZZ = Fuzz(about=__doc__ or "", outcomes=outcomes, flags=_flags, batch=20)
