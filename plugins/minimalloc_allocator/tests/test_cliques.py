"""Cliques are sets of blocks that all exclude each other, and every pair that does so is in one."""

from __future__ import annotations

import random
from itertools import combinations

from tilewright.api.allocator import Block, Problem
from tilewright.api.testing import random_problem
from tilewright_minimalloc.cliques import cliques_of


def excludes(problem: Problem, one: Block, other: Block) -> bool:
    """By the definition: alive together and not compatible, or in conflict."""
    pair = {one.name, other.name}
    if any(set(names) == pair for names in problem.conflicts):
        return True
    meet = any(a <= d and c <= b for a, b in one.lifetimes for c, d in other.lifetimes)
    return meet and not any(set(names) == pair for names in problem.compatible)


def test_pairs_are_those_of_the_definition() -> None:
    for seed in range(150):
        problem = random_problem(random.Random(seed), most_blocks=8)
        wanted = {
            (one, other)
            for one, other in combinations(range(len(problem.blocks)), 2)
            if excludes(problem, problem.blocks[one], problem.blocks[other])
        }
        found = {
            tuple(sorted(pair)) for clique in cliques_of(problem, problem.blocks) for pair in combinations(clique, 2)
        }
        assert found == wanted, seed


def test_of_some_of_the_blocks_only_those_count() -> None:
    for seed in range(40):
        problem = random_problem(random.Random(seed), most_blocks=8)
        some = problem.blocks[::2]
        cliques = cliques_of(problem, some)
        assert all(0 <= number < len(some) for clique in cliques for number in clique)
        assert all(
            excludes(problem, some[one], some[other]) for clique in cliques for one, other in combinations(clique, 2)
        )
