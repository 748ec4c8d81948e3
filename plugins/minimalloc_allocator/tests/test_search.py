"""The search itself: perfect packings, both forms step by step, restarts, limits, seeds, thousands of blocks."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest
from click.testing import CliRunner
from counted import counted
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import CAPACITY_BYTES, CHALLENGING, OF_NETWORKS, buffers_file, challenging_file
from tilewright.allocate.problems.problem_files import read_problem
from tilewright.allocate.solving import solved
from tilewright.api.allocator import Block, Budget, Pool, Problem
from tilewright.api.testing import joined_problem
from tilewright.check.allocations.allocation import peaks, violations
from tilewright.cli.main import tilewright
from tilewright_minimalloc.exact import Exact
from tilewright_minimalloc.instance import Instance, cliques_in_time, make_instance, mirrored
from tilewright_minimalloc.native import NativeSearch, extension
from tilewright_minimalloc.portfolio import fit
from tilewright_minimalloc.search import Outcome, PythonSearch, Selector

BUILT = extension() is not None
MAKE = NativeSearch if BUILT else PythonSearch


def cut_rectangle(count: int, times: int, height: int, seed: int) -> list[tuple[int, int, int]]:
    """`count` pieces of a full rectangle as (first, last, size): packed perfectly, every moment is full."""
    chance = random.Random(seed)
    pieces = [(0, times, 0, height)]
    while len(pieces) < count:
        areas = [(right - left) * (high - low) * chance.random() for left, right, low, high in pieces]
        left, right, low, high = pieces.pop(areas.index(max(areas)))
        if right - left > 1 and (chance.random() < 0.5 or high - low < 2):
            cut = chance.randrange(left + 1, right)
            pieces += [(left, cut, low, high), (cut, right, low, high)]
        elif high - low > 1:
            cut = chance.randrange(low + 1, high)
            pieces += [(left, right, low, cut), (left, right, cut, high)]
        else:
            pieces.append((left, right, low, high))
    chance.shuffle(pieces)
    return [(left, right - 1, high - low) for left, right, low, high in pieces]


def instance_of(pieces: list[tuple[int, int, int]]) -> Instance:
    return make_instance(
        [size for _, _, size in pieces],
        [1] * len(pieces),
        [()] * len(pieces),
        cliques_in_time([((first, last),) for first, last, _ in pieces]),
        [last - first + 1 for first, last, _ in pieces],
    )


def assert_packed(pieces: list[tuple[int, int, int]], offsets: list[int], height: int) -> None:
    for number, (first, last, size) in enumerate(pieces):
        assert 0 <= offsets[number] <= height - size
        for other in range(number):
            first_of_other, last_of_other, size_of_other = pieces[other]
            if first <= last_of_other and first_of_other <= last:
                assert offsets[number] + size <= offsets[other] or offsets[other] + size_of_other <= offsets[number]


@pytest.mark.slow
@pytest.mark.parametrize("count", [100, 200, 300])
def test_packs_what_was_cut_out_of_a_rectangle(count: int) -> None:
    solved_ones = 0
    for seed in range(4):
        pieces = cut_rectangle(count, 150, 1024, 1000 + seed)
        instance = instance_of(pieces)
        outcome, _, offsets = fit(instance, 1024 // instance.grain, 20_000 if BUILT else 1_500, make=MAKE)
        if outcome == Outcome.SOLVED:
            solved_ones += 1
            assert_packed(pieces, [offset * instance.grain for offset in offsets], 1024)
    assert solved_ones >= 3


@pytest.mark.parametrize("seed", range(10))
def test_a_problem_seen_from_its_end_is_the_same_problem(seed: int) -> None:
    pieces = cut_rectangle(40, 30, 200, seed)
    instance, backwards = instance_of(pieces), mirrored(instance_of(pieces))
    assert mirrored(backwards) == instance
    assert backwards == instance_of([(29 - last, 29 - first, size) for first, last, size in pieces])
    outcome, _, offsets = PythonSearch(backwards, backwards.floor).run(Selector.LOWEST, range(40), 5_000)
    if outcome == Outcome.SOLVED:  # some are too hard for one search
        assert_packed(pieces, [offset * backwards.grain for offset in offsets], 200)


def test_one_less_than_perfect_is_impossible() -> None:
    for seed in range(30):
        pieces = cut_rectangle(8, 12, 20, seed)
        instance = instance_of(pieces)
        assert fit(instance, instance.floor - 1, 50_000)[0] == Outcome.FAILED
        assert fit(instance, instance.floor, 50_000)[0] == Outcome.SOLVED


@pytest.mark.skipif(not BUILT, reason="the extension was not built")
@pytest.mark.parametrize("seed", range(60))
def test_both_forms_visit_the_same_nodes(seed: int) -> None:
    chance = random.Random(seed)
    pieces = cut_rectangle(chance.randint(4, 60), 40, 200, seed)
    kept = [piece for piece in pieces if chance.random() > 0.1 * (seed % 3)]
    aligns = [chance.choice([1, 1, 2, 4]) if seed % 2 else 1 for _ in kept]
    obstacles = [[(50, 53)] if seed % 5 == 4 else [] for _ in kept]
    cliques = cliques_in_time([((first, last),) for first, last, _ in kept])
    instance = make_instance([size for *_, size in kept], aligns, obstacles, cliques, [1] * len(kept))
    python, native = PythonSearch(instance, instance.floor), NativeSearch(instance, instance.floor)
    for selector in Selector:
        rank = list(range(len(kept)))
        chance.shuffle(rank)
        assert python.run(selector, rank, 300) == native.run(selector, rank, 300)


def test_a_limit_is_kept_and_another_seed_is_another_search() -> None:
    instance = instance_of(cut_rectangle(60, 40, 200, 3))
    outcome, nodes, _ = fit(instance, instance.floor, 7)
    assert (outcome, nodes) == (Outcome.STOPPED, 7)
    assert fit(instance, instance.floor, 5_000, seed=1) == fit(instance, instance.floor, 5_000, seed=1)


@settings(max_examples=250, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_core_finds_nothing_wrong(chance: random.Random) -> None:
    problem = joined_problem(chance)
    solution = solved(problem, Exact(), Budget(work=3_000))  # raises TW8050 for a plan that is wrong
    assert solution == solved(problem, Exact(), Budget(work=3_000))


@pytest.mark.parametrize("letter", CHALLENGING)
def test_fits_what_minimalloc_calls_challenging(letter: str) -> None:
    with challenging_file(letter).open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    blocks = tuple(
        Block(
            name=row["id"],
            size_bytes=int(row["size"]),
            lifetimes=((int(row["lower"]), int(row["upper"]) - 1),),
            pools=("ram",),
        )
        for row in rows
    )
    problem = Problem(blocks=blocks, pools=(Pool(name="ram", capacity_bytes=CAPACITY_BYTES),), goal="fit")
    solution = Exact().solve(problem, Budget())
    assert solution.status == "feasible"
    assert violations(problem, solution) == ()


@pytest.mark.parametrize("name", OF_NETWORKS)
@pytest.mark.parametrize("form", ["python", "native"] if BUILT else ["python"])
def test_networks_are_proved_optimal(name: str, form: str, tmp_path: Path) -> None:
    problem = read_problem(buffers_file(name, tmp_path))
    solution, calls = counted(lambda: solved(problem, Exact(form=form), Budget()))
    assert solution.status == "optimal"
    assert solution.work <= len(problem.blocks)  # every block is placed once
    assert calls < 600 * len(problem.blocks)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "longest", "form"),
    [
        (2_000, 100, "python"),
        (4_000, 800, "python"),
        pytest.param(20_000, 100, "", marks=pytest.mark.long),
        pytest.param(20_000, 800, "", marks=pytest.mark.long),
    ],
)
def test_more_blocks_than_are_searched_have_a_plan_and_a_bound(count: int, longest: int, form: str) -> None:
    """The program in C searches more; what is too many for it gets the same plan."""
    chance = random.Random(1)
    blocks = tuple(
        Block(
            name=f"b{number}",
            size_bytes=16 * chance.randint(1, 400),
            align=16,
            lifetimes=((first := chance.randrange(count), first + chance.randrange(longest)),),
            pools=("ram",),
        )
        for number in range(count)
    )
    problem = Problem(blocks=blocks, pools=(Pool(name="ram", capacity_bytes=None),))
    solution, calls = counted(lambda: Exact(form=form).solve(problem, Budget()))
    assert calls < 300 * count
    assert solution.status in ("optimal", "feasible")
    bound = solution.bounds["ram"]
    assert 0 < bound <= peaks(problem, solution)["ram"]
    assert violations(problem, solution) == ()


def test_doctor_says_which_form_is_in_use() -> None:
    shown = CliRunner().invoke(tilewright, ["doctor"]).output
    assert f"allocator  minimalloc: {Exact().summary}" in shown
    assert Exact().summary.endswith("in C") == BUILT
    assert Exact(form="python").summary.endswith("in Python")
