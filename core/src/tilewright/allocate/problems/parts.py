"""Knows how a problem falls apart into problems that have nothing to do with each other: by the pools blocks may be in.
Does not know how any of them is solved.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.ir.plans.allocation import Problem


def independent_parts(problem: Problem) -> tuple[Problem, ...]:
    """Problems over disjoint pools whose solutions together solve `problem`; those without blocks are left out."""
    group = {pool.name: pool.name for pool in problem.pools}
    for block in problem.blocks:
        joined = {group[name] for name in block.pools}
        first = min(joined, default="")
        group = {name: first if of in joined else of for name, of in group.items()}
    parts = []
    for lead in dict.fromkeys(group.values()):
        blocks = tuple(block for block in problem.blocks if block.pools and group[block.pools[0]] == lead)
        if not blocks:
            continue
        names = {block.name for block in blocks}
        parts.append(
            replace(
                problem,
                blocks=blocks,
                pools=tuple(pool for pool in problem.pools if group[pool.name] == lead),
                conflicts=tuple(pair for pair in problem.conflicts if names.issuperset(pair)),
                compatible=tuple(pair for pair in problem.compatible if names.issuperset(pair)),
            )
        )
    return tuple(parts)
