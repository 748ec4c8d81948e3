"""Random networks in one program: what shares memory, and what may run at the same time, gives what each gives alone.

A seed picks two to four of the graphs of `float_graphs.py`, which of them are concurrent, and inputs or outputs that
stay with the caller. The group is compiled with the flags, built with sanitizers and run: each network alone and, at
the same time in threads, those that are concurrent, in several orders. Outputs are held against the references that the
graphs come with. Flags of `compile` stand behind a `--`.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from fuzzing.drawing import Array
from fuzzing.float_graphs import case_of, near
from fuzzing.frame import Fuzz, Outcome

TYPES = {
    "float32": "float",
    "int64": "int64_t",
    "int32": "int32_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "bool": "uint8_t",
}
NAMES = ("a", "net", "b_1", "x", "run", "pools", "init", "group")  # some are words of the generated C
ORDERS = 4  # in which the networks run
TIMES = 2_000  # that each runs while others run
PRINT = """static void print(const char *what, const void *bytes, size_t size)
{
    printf("%s", what);
    for (size_t i = 0; i < size; ++i) printf("%02x", ((const unsigned char *)bytes)[i]);
    printf("\\n");
}"""
GCC = ("gcc", "-O1", "-w", "-pthread", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """One of the group: its graph, what it is given and what it must give."""

    name: str
    model: bytes
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]

    @property
    def ends(self) -> list[str]:
        """Names of inputs and outputs."""
        graph = onnx.load_from_string(self.model).graph
        return [value.name for value in (*graph.input, *graph.output)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A group, and the sets of its networks that run at the same time."""

    networks: tuple[Network, ...]
    concurrent: tuple[tuple[str, ...], ...]
    users: Mapping[str, str]  # network -> an end of it that stays with the caller


def drawn(seed: int) -> Drawn | None:
    """None where references leave too many of its graphs open."""
    numbers, networks = random.Random(seed), list[Network]()
    count = numbers.randint(2, 4)
    for number in range(5 * count):
        result = case_of(100_000 + 20 * seed + number) if len(networks) < count else None
        if result is None:
            continue
        inputs, outputs = tuple(result[0].inputs.values()), result[0].outputs
        if all(array.size and array.dtype.name in TYPES for array in (*inputs, *outputs)):
            name = f"{numbers.choice(NAMES)}{len(networks)}"
            networks.append(Network(name=name, model=result[0].model, inputs=inputs, outputs=outputs))
    if len(networks) < count:
        return None
    names = [array.name for array in networks]
    return Drawn(
        networks=tuple(networks),
        concurrent=tuple(tuple(numbers.sample(names, numbers.randint(2, count))) for _ in range(numbers.randint(0, 2))),
        users={array.name: numbers.choice(array.ends) for array in networks if numbers.random() < 0.4},
    )


def manifest(group: Drawn) -> str:
    """The group as a file describes it."""
    lines = ['target = "generic"', f"concurrent = {json.dumps(group.concurrent)}"]
    for network in group.networks:
        lines += [f"[models.{network.name}]", f'file = "{network.name}.onnx"']
        lines += [f'io = {{ {json.dumps(group.users[network.name])} = "user" }}'] if network.name in group.users else []
    return "\n".join(lines) + "\n"


def program(group: Drawn, seed: int) -> str:
    """C that runs the networks in several orders and prints, after each, what came out."""
    numbers = random.Random(seed)
    lines = ["#include <pthread.h>", "#include <stdio.h>", "#include <string.h>"]
    lines += ['#include "app_pools.h"', "static int status;", PRINT]
    for network in group.networks:
        lines.append(_functions(network))
    lines += ["int main(void)", "{", "    const app_pools memory = app_static_pools();"]
    for network in group.networks:
        name = network.name
        lines.append(f"    const {name}_pools {name}_memory = app_{name}_pools(&memory);")
        lines.append(f"    status |= {name}_init(&{name}_network, &{name}_memory, NULL, NULL, NULL);")
    alone = [(network.name,) for network in group.networks]
    runs = [*alone, *group.concurrent]
    for order in (alone, *(numbers.sample(runs, len(runs)) for _ in range(ORDERS))):
        for names in order:
            lines += _together(names)
    return "\n".join((*lines, "    return status;", "}", ""))


def _functions(network: Network) -> str:
    """What a network is given, what runs it so many times with the same result, and what prints its outputs."""
    name, places, known = network.name, range(len(network.inputs)), range(len(network.outputs))
    arrays = [
        *(f"{_type(array)} in{number}[{array.size}];" for number, array in enumerate(network.inputs)),
        *(
            f"{_type(array)} out{number}[{array.size}], kept{number}[{array.size}];"
            for number, array in enumerate(network.outputs)
        ),
    ]
    values = [", ".join(map(_number, array.flat)) for array in network.inputs]
    came = [f"{name}_at.kept{at}, {name}_at.out{at}, sizeof {name}_at.out{at}" for at in known]
    return f"""
static {name}_ctx {name}_network;
static struct {{ int known; {" ".join(arrays)} }} {name}_at;
{_lines(f"static const {_type(network.inputs[at])} {name}_given{at}[] = {{{values[at]}}};" for at in places)}
static void *{name}_go(void *times)
{{
    {f"const {name}_inputs in = {{{', '.join(f'{name}_at.in{at}' for at in places)}}};" if places else ""}
    const {name}_outputs out = {{{", ".join(f"{name}_at.out{at}" for at in known)}}};
    for (int i = 0; i < *(int *)times; ++i) {{
        {_lines(f"memcpy({name}_at.in{at}, {name}_given{at}, sizeof {name}_at.in{at});" for at in places)}
        {_lines(f"memset({name}_at.out{at}, 0x55, sizeof {name}_at.out{at});" for at in known)}
        if ({name}_run(&{name}_network, {"&in" if places else "NULL"}, &out)) status |= 2;
        if (!{name}_at.known) {{
            {_lines(f"memcpy({each});" for each in came)}
        }}
        {_lines(f"if (memcmp({each})) status |= 4;" for each in came)}
        {name}_at.known = 1;
    }}
    return NULL;
}}
static void {name}_print(void)
{{
    {_lines(f'print("{name} {at} ", {name}_at.out{at}, sizeof {name}_at.out{at});' for at in known)}
}}"""


def _lines(texts: Iterable[str]) -> str:
    return "\n        ".join(texts)


def _type(array: Array) -> str:
    return TYPES[array.dtype.name]


def _together(names: Sequence[str]) -> Iterator[str]:
    """Networks that run at the same time, or one alone."""
    yield f"    {{ int times = {1 if len(names) == 1 else TIMES};"
    if len(names) == 1:
        yield f"    {names[0]}_go(&times);"
    else:
        yield from (f"    pthread_t thread_{name};" for name in names)
        yield from (f"    pthread_create(&thread_{name}, NULL, {name}_go, &times);" for name in names)
        yield from (f"    pthread_join(thread_{name}, NULL);" for name in names)
    yield from (f"    {name}_print();" for name in names)
    yield "    }"


def _number(value: np.generic) -> str:
    """As C writes it."""
    if not isinstance(value, np.floating):
        return str(int(value))
    if not np.isfinite(value):
        return "0.0f / 0.0f" if np.isnan(value) else f"{'-' if value < 0 else ''}1.0f / 0.0f"
    return f"{float(value).hex()}f"


def outcome(group: Drawn, seed: int, folder: Path, flags: Sequence[str] = ()) -> tuple[str, str]:
    """What became of a group, and what is wrong."""
    for network in group.networks:
        (folder / f"{network.name}.onnx").write_bytes(network.model)
    (folder / "app.toml").write_text(manifest(group))
    (folder / "main.c").write_text(program(group, seed))
    compiled = _run(folder, "tilewright", "compile", "--group", "app.toml", "-o", "app", "-q", *flags)
    if compiled.returncode:
        proper = compiled.returncode in (2, 4, 5) and "try:" in compiled.stderr
        return ("refused", "") if proper else ("failed", compiled.stderr)
    sources = [str(file) for file in (folder / "app").rglob("*.[cS]") if not file.name.endswith("_simple.c")]
    folders = [f"{folder}/app", *(f"{folder}/app/{network.name}" for network in group.networks)]
    include = [f"{flag}{place}" for place in folders for flag in ("-I", "-Wa,-I")]
    built = _run(folder, *GCC, *include, "main.c", *sources, "-lm", "-o", "program")
    if built.returncode:
        return "failed", built.stderr
    ran = _run(folder, f"{folder}/program")
    wrong = sorted(set(_wrong(group, ran.stdout)))
    why = ran.stderr or ", ".join(wrong) or f"the program ends with {ran.returncode}"
    return ("failed", why) if ran.returncode or wrong else ("right", "")


def _wrong(group: Drawn, printed: str) -> Iterator[str]:
    """Outputs that are not what they must be."""
    outputs = {network.name: network.outputs for network in group.networks}
    for name, number, text in map(str.split, printed.splitlines()):
        wanted = outputs[name][int(number)]
        result = np.frombuffer(bytes.fromhex(text), wanted.dtype).reshape(wanted.shape)
        if not near(wanted.astype(np.float64), result.astype(np.float64)):
            yield f"output {number} of {name}"


def _run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def flags(parser: argparse.ArgumentParser) -> None:
    """Those of `compile`."""
    parser.add_argument("words", nargs="*", metavar="-- FLAG")


def outcomes(seeds: Sequence[int], arguments: argparse.Namespace, folder: Path) -> Iterator[Outcome]:
    """What became of the groups."""
    for seed in seeds:
        group = drawn(seed)
        what, why = outcome(group, seed, folder, arguments.words) if group else ("left open", "")
        yield Outcome(f"seed {seed}", what, why[-400:])


FUZZ = Fuzz(about=__doc__ or "", outcomes=outcomes, flags=flags)
