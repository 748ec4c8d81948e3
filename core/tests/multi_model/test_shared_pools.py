"""Memory that networks share: the largest of them, their sum, or what lies between; and what lasts, apart."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.errors import Exit, TilewrightError
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.multi_model.shared_pools import SharedPool, share_pools, soft_warnings

MEMORIES = (
    Memory(name="ram", size_bytes=1000, align=16, section=".shared"), Memory(name="slow", size_bytes=None, soft=True)
)  # fmt: skip


def plans(uses: dict[str, list[tuple[str, str, int]]], memories: tuple[Memory, ...] = MEMORIES) -> dict[str, Any]:
    """What `share_pools` looks at of plans: (memory, kind, bytes) of each network's pools."""
    bound = SimpleNamespace(platform=Platform(name="t", memories=memories))
    tiled = SimpleNamespace(scheduled=SimpleNamespace(bound=bound))
    return {
        prefix: SimpleNamespace(
            tiled=tiled,
            pools=[SimpleNamespace(memory=memory, kind=kind, used_bytes=size) for memory, kind, size in found],
        )
        for prefix, found in uses.items()
    }


def ram(**sizes: int) -> dict[str, Any]:
    return plans({prefix: [("ram", "ram", size)] for prefix, size in sizes.items()})


@pytest.mark.parametrize(("concurrent", "size"), [
    ([], 300),
    ([["a", "b"]], 304 + 200),  # `a` ends at a multiple of 16
    ([["a", "b", "c"]], 304 + 208 + 100),
    ([["a", "c"], ["b", "c"]], 304 + 100),
    ([["a"], ["a", "nobody"]], 300),
])  # fmt: skip
def test_sizes(concurrent: list[list[str]], size: int) -> None:
    (pool,) = share_pools("app", concurrent, ram(a=300, b=200, c=100))
    assert pool.size_bytes <= size and size - pool.size_bytes < 16
    assert (pool.memory, pool.section, set(pool.offsets)) == ("ram", ".shared", {"a", "b", "c"})


sizes = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 200), min_size=1)
pairs = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3), max_size=4)


@pytest.mark.slow
@given(sizes, pairs)
def test_who_may_run_at_the_same_time_shares_no_byte(found: dict[str, int], concurrent: list[list[str]]) -> None:
    (pool,) = share_pools("app", concurrent, ram(**found))
    ends = {prefix: (start, start + found[prefix]) for prefix, start in pool.offsets.items()}
    assert pool.size_bytes == max(end for _, end in ends.values())
    assert all(start % 16 == 0 for start, _ in ends.values())
    assert max(found.values()) <= pool.lower_bound_bytes <= pool.size_bytes
    for one, other in combinations(ends, 2):
        if any({one, other} <= set(names) for names in concurrent):
            assert ends[one][1] <= ends[other][0] or ends[other][1] <= ends[one][0]


def test_what_lasts_is_shared_with_nobody() -> None:
    """Not even by the network's own pool, nor by networks that never run together."""
    uses = {
        "a": [("ram", "ram", 160), ("ram", "state", 32), ("ram", "resident", 48)],
        "b": [("ram", "ram", 64), ("ram", "state", 16)],
    }
    (pool,) = share_pools("app", [], plans(uses))
    assert pool.size_bytes == pool.lower_bound_bytes == 160 + 32 + 48 + 16
    assert (set(pool.offsets), set(pool.copies), set(pool.state)) == ({"a", "b"}, {"a"}, {"a", "b"})
    ranges = [(pool.copies["a"], 48), (pool.state["a"], 32), (pool.state["b"], 16)]
    taken = [byte for start, size in ranges for byte in range(start, start + size)]
    assert len(set(taken)) == len(taken) == 96
    assert not set(taken) & set(range(pool.offsets["a"], pool.offsets["a"] + 160))
    assert not set(taken) & set(range(pool.offsets["b"], pool.offsets["b"] + 64))


def test_memories_that_nobody_uses_and_constants() -> None:
    uses = {"a": [("slow", "ram", 8), ("ram", "ram", 0), ("rodata", "const", 500)]}
    assert [pool.memory for pool in share_pools("app", [], plans(uses))] == ["slow"]


def test_a_group_that_does_not_fit() -> None:
    uses = {"a": [("ram", "ram", 600), ("ram", "state", 100)], "b": [("ram", "ram", 400)]}
    with pytest.raises(TilewrightError) as caught:
        share_pools("app", [["a", "b"]], plans(uses))
    error = caught.value
    assert (error.code, error.exit_code) == ("TW5030", Exit.DOES_NOT_FIT)
    assert "group 'app' does not fit: memory 'ram' needs 1,1" in error.message and "has 1,000 B" in error.message
    assert [line.split()[:2] for line in error.details[:2]] == [["a", "600"], ["a", "(state)"]]
    assert error.details[-1] == "may run at the same time: a, b"


@pytest.mark.parametrize(("size", "warnings"), [(64, 0), (65, 1)])
def test_soft_limits(size: int, warnings: int) -> None:
    memories = (Memory(name="ram", size_bytes=64, soft=True), Memory(name="hard", size_bytes=1))
    found = plans({"a": [("ram", "ram", size)]}, memories)
    pools = share_pools("app", [], found)
    other = SharedPool(memory="hard", size_bytes=9, align=16, lower_bound_bytes=9)
    said = soft_warnings((*pools, other), found)
    assert [(each.code, each.where) for each in said] == [("TW5031", "pool ram")] * warnings
    assert all("needs 65 B" in each.message and "(1 B more)" in each.message for each in said)
