"""Runs every case of onnx's suite, adds those that pass to the list, and writes docs/conformance.md.
Usage: python tools/build_conformance.py [--page-only] [--jobs N]; the whole suite takes two CPU minutes.
Ends with status 1, and changes nothing, when a case is wrong, breaks something, or passed before.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from multiprocessing import Pool
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from conformance.batch import PASS, REFUSED, Outcome, run_batch  # found only now
from conformance.cases import Case, all_cases
from conformance.passing import ONNX_VERSION, counts, passing, score, write_passing

PAGE = ROOT / "docs" / "conformance.md"
BATCH = 25  # cases in one program
MADE = "<!-- Made by tools/build_conformance.py: change the sources, not this page. -->\n"
ABOUT = f"""
The cases are those that onnx {ONNX_VERSION} brings for its own backends. In scope is what a compiler of static networks
can be asked for: fixed shapes, float32, integers and bool, inference, no random numbers, no output whose size depends
on the data, no other domain. Inputs that are parameters (the shape of a Reshape, the axes of a ReduceSum) are made
constants. Every case is compiled to C for the target `generic`, built with warnings as errors, run, and compared with
the data of the suite within its own tolerance. A case that is not counted as passed is refused, with the reason, before
any file is written. `tests/conformance` fails when one gives a wrong answer, C that does not build, or an internal
error, and when one that passed stops passing. Tier 1 is what small networks are made of, tier 2 what they use besides.

What is a parameter of an operator is one of its body, too, where a case has that written out. A Loop whose number of
trips is computed is refused: a plan has a place and a size for every value, and a declared output shape says what one
run gave, not what the next will. An If whose condition is computed runs both branches where they make values of one
shape, and chooses.
"""
BESIDE = """
## Beside other generators

The same five networks as C for a Cortex-M4 by arm-none-eabi-gcc -O2 (`benchmarks/other_generators.py`, with
emx-onnx-cgen 1.4.0): bytes of C without weights, code, and memory that is written: static memory, stack, inputs and
outputs. The other one computes quantised networks in float and plans no memory. onnx2c was not built here: the parts of
its source that lie in other repositories were not to be had. Of the 126 models that its tests have, 121 are compiled
and right; the rest are one without expected data, random numbers, a tree ensemble, and two files whose declared output
shape is wrong, which was an error then.

| network | bytes of C | | `.text` | | written memory | |
|---|---:|---:|---:|---:|---:|---:|
| | tilewright | emx | tilewright | emx | tilewright | emx |
| kws_int8 | 94,782 | 70,252 | 7,068 | 7,728 | 17,144 | 1,030,310 |
| resnet8_int8 | 113,488 | 77,508 | 8,920 | 9,132 | 50,824 | 1,657,282 |
| vww_int8 | 172,531 | 183,359 | 14,404 | 14,696 | 37,796 | 8,016,682 |
| ad_int8 | 68,136 | 48,918 | 3,744 | 4,760 | 2,304 | 1,090,008 |
| resnet8_f32 | 47,993 | 29,782 | 6,604 | 3,568 | 196,832 | 778,968 |
"""


def page(cases: Mapping[str, Case], names: frozenset[str]) -> str:
    """The whole page."""
    parts = (MADE, "# Conformance", ABOUT, *_tiers(cases, names), BESIDE, *_operators(cases, names), "")
    return "\n".join(parts)


def _tiers(cases: Mapping[str, Case], names: frozenset[str]) -> Iterator[str]:
    counted = counts(cases, names)
    direct = counts({name: case for name, case in cases.items() if not case.baked}, names)
    yield from ("| tier | passed | of | without parameters made constants |", "|---:|---:|---:|---:|")
    yield from (f"| {tier} | {good} | {count} | {direct[tier][0]} of {direct[tier][1]} |"
                for tier, (good, count) in counted.items())  # fmt: skip
    good, count = (sum(column) for column in zip(*counted.values(), strict=True))
    yield f"| all | {good} | {count} | {sum(each[0] for each in direct.values())} |"
    yield from ("", f"Weighted 4 : 2 : 1 over tiers 1 to 3: **{score(counted):.1f}** of 100.")


def _operators(cases: Mapping[str, Case], names: frozenset[str]) -> Iterator[str]:
    groups: dict[tuple[int, str], list[Case]] = {}
    for case in cases.values():
        groups.setdefault((case.tier, case.operator), []).append(case)
    yield from ("## Operator by operator", "")
    yield "Cases written out as the body of an operator's function count as the operator's. In brackets: whole graphs."
    yield from ("", "| tier | operator | passed | of | operator sets | missing |", "|---:|---|---:|---:|---|---|")
    for (tier, operator), members in sorted(groups.items()):
        missing = sorted(case.name.removeprefix("test_") for case in members if case.name not in names)
        shown = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        opsets = sorted({case.opset for case in members})
        span = f"{opsets[0]} to {opsets[-1]}" if len(opsets) > 1 else f"{opsets[0]}"
        yield f"| {tier} | {operator} | {len(members) - len(missing)} | {len(members)} | {span} | {shown} |"


def _run(names: list[str]) -> dict[str, Outcome]:
    cases = all_cases()
    with tempfile.TemporaryDirectory() as folder:
        return run_batch([cases[name] for name in names], Path(folder))


def outcomes(jobs: int) -> dict[str, Outcome]:
    """What becomes of every case."""
    names = sorted(all_cases())
    result: dict[str, Outcome] = {}
    with Pool(jobs) as pool:
        for some in pool.imap_unordered(_run, [names[start : start + BATCH] for start in range(0, len(names), BATCH)]):
            result |= some
    return result


def main() -> int:
    """The exit status."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--page-only", action="store_true", help="write the page from the committed list")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    arguments = parser.parse_args()
    if not arguments.page_only:
        result = outcomes(arguments.jobs)
        bad = [each for each in result.values() if each.status not in (PASS, REFUSED)]
        bad += [result[name] for name in passing() if result[name].status == REFUSED]
        for each in bad:
            sys.stderr.write(f"{each.name}: {each.status}: {each.reason}\n")
        if bad:
            return 1
        write_passing([name for name, each in result.items() if each.status == PASS])
    PAGE.write_text(page(all_cases(), frozenset(passing())), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
