"""How much the tests notice: small mistakes put into the sources one at a time, and the tests run against each.

    python benchmarks/mutation.py [--rooms tile,lower,...] [--mutants 200] [--seed 0] [--limit 240] [--jobs 1]
                                   [--minutes 60] [--own] [--trusted]
    python benchmarks/mutation.py --at tile/grouping.py:100        every mutant of one line

A mutant is one change of one expression: a comparison moved by one or turned round, a condition negated, an `and` for
an `or`, a `not` dropped, another arithmetic operator, a number one larger, `min` for `max`. They are drawn with the
seed, as many from each room. Mutants live in temporary copies of the package that come first on the path; the checkout
is never written to. Each runs against the mirrored test of its module, or the one that
`tests/docs/unmirrored.txt` names, and then the tests of its room below, until one fails; with `--own` against the first
alone. A mutant that nothing can tell from the original counts as survived, and one whose tests take more CPU seconds
than the limit as noticed by time.

The exit code is 1 if the tests fail without any mutant.
"""

from __future__ import annotations

import argparse
import ast
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "core" / "src" / "tilewright"
UNMIRRORED = ROOT / "tests" / "docs" / "unmirrored.txt"
TESTS: Mapping[str, tuple[str, ...]] = {  # beside the module's own; what takes a minute is left out
    "tile": ("tests/stages", "core/tests/tile"),
    "lower": ("tests/stages", "tests/kernels", "core/tests/lower"),
    "allocate": ("tests/stages", "core/tests/allocate"),
    "check": ("core/tests/check", "core/tests/allocate/test_allocate.py", "core/tests/tile/test_grouping.py"),
}
LEFT_OUT = ("test_every_operator_tiles.py",)
SOUND_SECONDS = 3600  # for all tests without any mutant
LINES = 60  # of what pytest says where these fail: its last ones name them
COMPARISONS: Mapping[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
ARITHMETIC: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
Change = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One changed module."""

    module: Path  # relative to the package
    line: int
    before: str
    after: str
    text: str  # of the whole module

    @property
    def room(self) -> str:
        """The folder."""
        return self.module.parts[0]

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.before} -> {self.after}"


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    """Everything that is computed when a function runs: no annotations, no decorators, no type parameters."""
    skipped = {"annotation", "returns", "decorator_list", "type_comment"}
    for name, value in ast.iter_fields(node):
        if name in skipped:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.AST):
                yield child
                yield from _expressions(child)


def _changes(node: ast.AST) -> Iterator[tuple[Change, Change]]:
    """Every way to change a node in place, and how to undo it."""

    def setting(owner: object, name: str, value: object) -> tuple[Change, Change]:
        old = getattr(owner, name)
        return (lambda: setattr(owner, name, value)), (lambda: setattr(owner, name, old))

    match node:
        case ast.Compare(ops=[op]):
            yield from (setting(node, "ops", [other()]) for other in COMPARISONS[type(op)])
        case ast.BoolOp():
            yield setting(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not()):
            yield setting(node, "operand", ast.UnaryOp(op=ast.Not(), operand=node.operand))
        case ast.If() | ast.IfExp() | ast.While() if not isinstance(node.test, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
            yield setting(node, "test", ast.UnaryOp(op=ast.Not(), operand=node.test))
        case ast.BinOp() if type(node.op) in ARITHMETIC and not _is_text(node):
            yield setting(node, "op", ARITHMETIC[type(node.op)]())
        case ast.Constant(value=bool() as truth):
            yield setting(node, "value", not truth)
        case ast.Constant(value=int() as number):
            yield setting(node, "value", number + 1)
        case ast.Call(func=ast.Name(id=name)) if name in CALLS:
            yield setting(node.func, "id", CALLS[name])


def _is_text(node: ast.BinOp) -> bool:
    """Texts and tuples cannot be subtracted: such a mutant would only be killed for its type."""
    kinds = (ast.JoinedStr, ast.Tuple, ast.List)
    sides = (node.left, node.right)
    return any(isinstance(s, kinds) or (isinstance(s, ast.Constant) and isinstance(s.value, str)) for s in sides)


def mutants(module: Path) -> Iterator[Mutant]:
    """Every mutant of a module."""
    tree = ast.parse((SOURCES / module).read_text(encoding="utf-8"))
    original = ast.unparse(tree)
    for node in list(_expressions(tree)):
        for change, undo in _changes(node):
            before = _shown(node)
            change()
            text, after = ast.unparse(tree), _shown(node)
            undo()
            if text != original:
                yield Mutant(module=module, line=node.lineno, before=before, after=after, text=text)


def _shown(node: ast.AST) -> str:
    shown = f"if {ast.unparse(node.test)}" if isinstance(node, (ast.If, ast.While)) else ast.unparse(node)
    return shown if len(shown) <= 90 else f"{shown[:87]}..."


def drawn(rooms: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """As many of each room, the first rooms taking what does not divide; in an order that is drawn too, so that a run
    which is ended early has met a sample of every room."""
    chance, chosen = random.Random(seed), []
    for at, room in enumerate(rooms):
        files = sorted(path.relative_to(SOURCES) for path in (SOURCES / room).rglob("*.py"))
        every = [mutant for file in files for mutant in mutants(file)]
        wanted = count // len(rooms) + (at < count % len(rooms))
        chosen += chance.sample(every, min(wanted, len(every)))
    chance.shuffle(chosen)
    return chosen


def tests_of(module: Path, *, own_only: bool) -> list[str]:
    """Its own test first, then those of its room, each file once."""
    mirror = ROOT / "core" / "tests" / module.with_name(f"test_{module.name}")
    lines = (line.split() for line in UNMIRRORED.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    holders = {words[0]: words[1] for words in lines if words}
    own = mirror.relative_to(ROOT) if mirror.exists() else Path(holders[f"core/src/tilewright/{module}"])
    files = [str(own)]
    for place in () if own_only else TESTS.get(module.parts[0], (str(own),)):
        result = sorted((ROOT / place).rglob("test_*.py")) if (ROOT / place).is_dir() else [ROOT / place]
        files += [str(file.relative_to(ROOT)) for file in result if file.name not in LEFT_OUT]
    return list(dict.fromkeys(files))


def tested(copy: Path, tests: Sequence[str], limit: float, *flags: str) -> subprocess.CompletedProcess[str] | None:
    """What pytest says; None after `limit` CPU seconds, or a busy machine's wait of ten times as long."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", *flags, *tests]
    inherited = {name: value for name, value in os.environ.items() if name != "UPDATE_GOLDEN"}
    environment = {**inherited, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "HYPOTHESIS_PROFILE": "same"}

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 1))

    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=10 * limit, check=False,
            preexec_fn=limited,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    return None if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL) else done


def outcome(copy: Path, tests: Sequence[str], limit: float) -> str:
    """ "killed", "survived" or "timeout"."""
    done = tested(copy, tests, limit, "-x")
    if done is None:
        return "timeout"
    return "survived" if done.returncode == 0 else "killed"


def judged(mutant: Mutant, copy: Path, limit: float, *, own_only: bool) -> str:
    """The outcome of one mutant, whose module is put back afterwards."""
    file = copy / "tilewright" / mutant.module
    original = file.read_text(encoding="utf-8")
    file.write_text(mutant.text, encoding="utf-8")
    try:
        return outcome(copy, tests_of(mutant.module, own_only=own_only), limit)
    finally:
        file.write_text(original, encoding="utf-8")


def run(
    chosen: Sequence[Mutant], jobs: int, limit: float, folder: Path, *, own_only: bool, minutes: float, trusted: bool
) -> dict[Mutant, str]:
    """All that begin in these minutes, in copies of the package below `folder`; no copy ever has two mutants."""
    copies: Queue[Path] = Queue()
    for number in range(jobs):
        shutil.copytree(SOURCES, folder / str(number) / "tilewright", ignore=shutil.ignore_patterns("__pycache__"))
        copies.put(folder / str(number))

    end = time.monotonic() + 60 * minutes

    def one(mutant: Mutant) -> str:
        if time.monotonic() > end:
            return "left out"
        copy = copies.get()
        try:
            result = judged(mutant, copy, limit, own_only=own_only)
        finally:
            copies.put(copy)
        print(f"{result:9} {mutant}", flush=True)
        return result

    met = {test for mutant in chosen for test in tests_of(mutant.module, own_only=own_only)}
    demand_copied(folder / "0")
    if not trusted:
        demand_sound(folder / "0", sorted(met))
    with ThreadPoolExecutor(jobs) as pool:
        outcomes = zip(chosen, pool.map(one, chosen), strict=True)
        return {mutant: result for mutant, result in outcomes if result != "left out"}


def demand_copied(copy: Path) -> None:
    """SystemExit where another package than the copy is imported."""
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    where = [sys.executable, "-c", "import tilewright; print(tilewright.__file__)"]
    result = subprocess.run(where, env=environment, capture_output=True, text=True, check=True).stdout.strip()
    if Path(result).resolve().parent.parent != copy.resolve():
        raise SystemExit(f"{result} is imported, not the copy: mutants would not be seen")


def demand_sound(copy: Path, tests: Sequence[str]) -> None:
    """SystemExit where the tests fail without any mutant."""
    done = tested(copy, tests, SOUND_SECONDS, "--maxfail=5", "--tb=short", "--disable-warnings")
    if done is None:
        raise SystemExit(f"without any mutant the tests take more than {SOUND_SECONDS} CPU seconds")
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-LINES:])
        raise SystemExit(f"without any mutant the tests are not passed:\n{last}")


def table(found: Mapping[Mutant, str]) -> str:
    """A line for each room and one for all, in Markdown."""
    lines = ["| room | mutants | killed | by time | survived | noticed |", "|---|---:|---:|---:|---:|---:|"]
    for room in (*dict.fromkeys(mutant.room for mutant in found), "all"):
        counts = Counter(result for mutant, result in found.items() if room in (mutant.room, "all"))
        noticed = 100 * (1 - counts["survived"] / counts.total())
        figures = (counts.total(), counts["killed"], counts["timeout"], counts["survived"], f"{noticed:.0f} %")
        lines.append(f"| {room} | " + " | ".join(map(str, figures)) + " |")
    return "\n".join(lines)


def main() -> int:
    """Print every mutant's outcome, the table, and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", default=",".join(TESTS))
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=240, help="CPU seconds for the tests of one mutant")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which no other mutant begins")
    parser.add_argument("--own", action="store_true", help="only the module's own test")
    parser.add_argument("--trusted", action="store_true", help="the tests are known to pass without any mutant")
    parser.add_argument("--at", help="FILE:LINE, every mutant there and no other")
    arguments = parser.parse_args()
    if arguments.at:
        file, _, line = arguments.at.partition(":")
        chosen = [mutant for mutant in mutants(Path(file)) if mutant.line == int(line)]
    else:
        chosen = drawn(arguments.rooms.split(","), arguments.mutants, arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        found = run(
            chosen, arguments.jobs, arguments.limit, Path(folder), own_only=arguments.own,
            minutes=arguments.minutes, trusted=arguments.trusted,
        )  # fmt: skip
    print(f"\n{table(found)}")
    survivors = [mutant for mutant, result in found.items() if result == "survived"]
    print("\nsurvived:", *survivors, sep="\n    ")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
