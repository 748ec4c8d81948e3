"""Cliques are sets of blocks that all exclude each other, and every pair that does so is in one."""

from __future__ import annotations

import random
from itertools import combinations

from tilewright.api.allocator import Block, Problem
from tilewright.api.testing import random_problem
from tilewright_minimalloc.cliques import cliques_of
from tilewright_minimalloc.instance import cliques_in_time


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


def test_pairs_that_are_in_no_moment_are_gathered_from_the_heaviest_block_on() -> None:
    """Each clique begins with the heaviest pair that is left, and takes the heaviest that exclude all in it."""
    for seed in range(80):
        problem = random_problem(random.Random(seed), most_blocks=9)
        blocks = problem.blocks
        cliques = cliques_of(problem, blocks)
        order = sorted(range(len(blocks)), key=lambda number: (-blocks[number].size_bytes, number))
        pairs = {
            frozenset(pair) for pair in combinations(order, 2) if excludes(problem, *(blocks[one] for one in pair))
        }
        timed = cliques_in_time([block.lifetimes for block in blocks])
        kept = [clique for clique in timed if all(frozenset(pair) in pairs for pair in combinations(clique, 2))]
        wanted, covered = list(kept), {frozenset(pair) for clique in kept for pair in combinations(clique, 2)}
        for one in order:
            for other in order:
                if frozenset((one, other)) in pairs - covered:
                    clique = [one, other]
                    for more in order:
                        if all(frozenset((more, member)) in pairs for member in clique):
                            clique.append(more)
                    wanted.append(tuple(clique))
                    covered |= {frozenset(pair) for pair in combinations(clique, 2)}
        assert cliques == wanted, seed
