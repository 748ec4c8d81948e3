"""Where memory is short, steps whose scratch is in the way have slower kernels, and no others; pinned ones never."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import pytest

from tilewright.allocate.best_fit import BestFit
from tilewright.errors import Diagnostic, TilewrightError
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.ir.plans.tiler import Tiler
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.proposals.other_kernels import extra_cycles
from tilewright.plan.proposals.planner import Planner, ram_bytes
from tilewright.plan.proposals.shortfall import choice_of, regained
from tilewright.plan.suggestions import with_memories
from tilewright.testing.cluster import CLUSTER, RUNTIME_BYTES
from tilewright.testing.one_step import vocabulary
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.tile.strategies import TILERS, WholeTiler

WHOLE = WholeTiler()
COST = next(tiler for tiler in TILERS if tiler.name == "cost")
WORLD = small_world()
SCRATCH = {"fast": (40, 10.0), "middle": (16, 25.0), "small": (8, 70.0)}  # bytes and cycles; portable: 0 and 100


def _kernels() -> dict[str, Kernel]:
    """Of Clip and Add: portable ones, and three that are faster the more scratch they take."""
    found = {name: replace(one, cycles=lambda tile: 100.0) for name, one in WORLD.kernels.items()}
    for one in list(found.values()):
        for word, (size, cycles) in SCRATCH.items() if one.op in ("Clip", "Add") else ():
            name = f"{word}.{one.op}"
            found[name] = replace(
                one, name=name, scratch_bytes=lambda tile, size=size: size, cycles=lambda tile, cycles=cycles: cycles
            )
    return found


class _World:
    """A graph, and all that is asked about it."""

    def __init__(
        self, graph: Graph, pins: Decisions | None = None, platform: Platform = WORLD.platform, tiler: Tiler = WHOLE
    ) -> None:
        self.graph, self.pins, self.platform = graph, pins or Decisions(), platform
        self.planner = Planner(
            operators=vocabulary(),
            kernels=_kernels(),
            tiler=tiler,
            allocator=BestFit(),
            pins=self.pins,
            budget=Budget(work=2_000),
        )

    def bound(self, kernels: Mapping[str, str]) -> Bound:
        pins = Decisions(kernels=kernels).pinned_by(self.pins)
        return replace(self.planner, pins=pins).bind(self.graph, self.platform)

    def plan(self, **limits: int | None) -> Allocated:
        bound = with_memories(self.bound({}), limits)
        return Fitting(planner=self.planner, rebind=self.bound).plan(bound)

    def fits(self, kernels: Mapping[str, str], **limits: int | None) -> bool:
        """With these kernels and no others."""
        return isinstance(self.planner.best(with_memories(self.bound(kernels), limits)), Allocated)

    def asked_for(self, **limits: int) -> int:
        """The least memory that the error names."""
        with pytest.raises(TilewrightError) as caught:
            self.plan(**limits)
        assert caught.value.code == "TW5001"
        (size,) = (int(found[1]) for line in caught.value.fix if (found := re.match(r"--memory \w+=(\d+) ", line)))
        return size


def _slower(plan: Allocated) -> dict[str, str]:
    """The steps that do not have their fastest kernel."""
    bindings = plan.tiled.scheduled.bound.bindings
    return {name: one.kernel.name for name, one in bindings.items() if one.kernel != one.candidates[0].kernel}


def _notes(plan: Allocated) -> list[Diagnostic]:
    return [item for item in plan.tiled.scheduled.bound.diagnostics if item.code == "TW5035"]


def _drawn(seed: int, most_nodes: int = 10) -> Graph:
    return random_graph(random.Random(seed), WORLD.operators, most_nodes=most_nodes)


def _chain(nodes: int, elements: int = 64) -> Graph:
    """Clip after Clip."""
    names = [f"v{index}" for index in range(nodes + 1)]
    return Graph(
        name="chain",
        inputs=("v0",),
        outputs=(names[-1],),
        nodes=tuple(
            Node(name=f"clip{i}", op="Clip", inputs=(names[i],), outputs=(names[i + 1],), attributes={"min": 0.0})
            for i in range(nodes)
        ),
        tensors={name: Tensor(name=name, dtype=DType.F32, shape=(elements,)) for name in names},
        constants={},
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(14))
def test_every_limit_between_the_least_and_the_most_does(seed: int) -> None:
    world = _World(_drawn(seed))
    most = ram_bytes(world.plan(sram=None))
    least = world.asked_for(sram=1)
    assert not _slower(world.plan(sram=most)) and not _notes(world.plan(sram=most))
    for limit in sorted({least, (least + most) // 2, most - 1} - {least - 1}):
        plan = world.plan(sram=limit)
        assert ram_bytes(plan) <= limit
        for step in _slower(plan):  # every one of them has to be slower
            kernels = {name: kernel for name, kernel in _slower(plan).items() if name != step}
            assert not world.fits(kernels, sram=limit), step
    assert world.asked_for(sram=least - 1) == least


@pytest.mark.parametrize("seed", range(40, 47))
def test_no_other_kernels_that_fit_are_faster(seed: int) -> None:
    world = _World(_drawn(seed, most_nodes=5))
    free = {name: one.candidates for name, one in world.bound({}).bindings.items() if len(one.candidates) > 1}
    least, most = world.asked_for(sram=1), ram_bytes(world.plan(sram=None))
    plan = world.plan(sram=(least + most) // 2)
    bound = plan.tiled.scheduled.bound
    ways = (dict(zip(free, (one.kernel.name for one in way), strict=True)) for way in product(*free.values()) if free)
    cheaper = (way for way in ways if extra_cycles(bound, way) < extra_cycles(bound, _slower(plan)))
    assert not any(world.fits(way, sram=(least + most) // 2) for way in cheaper)


def test_the_same_limit_gives_the_same_plan_and_says_what_it_costs() -> None:
    world = _World(_chain(3))
    first, second = world.plan(sram=520), world.plan(sram=520)
    assert first.decisions == second.decisions
    again = _World(_chain(3), first.decisions).plan(sram=520)
    assert again.placements == first.placements and not _notes(again)
    assert _slower(first) == _slower(second) != {}
    (note,) = _notes(first)
    assert note.severity == "note"
    assert "(sram)" in note.message and f" {len(_slower(first))} step" in note.message
    assert [line.split("'")[1] for line in note.details] == list(_slower(first))


def test_pinned_kernels_are_kept() -> None:
    """The first step has most alive: its input, which may not be overwritten, and its output."""
    free, pinned = _World(_chain(3)), _World(_chain(3), Decisions(kernels={"clip0": "fast.Clip"}))
    assert _slower(free.plan(sram=512)) == {"clip0": "portable.clip"}
    assert not _slower(pinned.plan(sram=512))  # row by row, the output over rows that are read no more
    assert pinned.plan(sram=512).tiled.regions[0].line_buffers
    least = pinned.asked_for(sram=256)
    assert least >= 256 + SCRATCH["fast"][0]
    assert not _slower(pinned.plan(sram=least))


def test_nothing_is_planned_again_where_the_fastest_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    world, asked = _World(_chain(3)), list[Mapping[str, str]]()
    bound = world.bound({})

    def rebind(kernels: Mapping[str, str]) -> Bound:
        asked.append(kernels)
        return world.bound(kernels)

    Fitting(planner=world.planner, rebind=rebind).plan(bound)
    assert not asked


@pytest.mark.slow
@pytest.mark.parametrize(("seeds", "least"), [(range(5), 2), pytest.param(range(12), 6, marks=pytest.mark.long)])
def test_several_memories(seeds: range, least: int) -> None:
    """Scratch may be in either of two memories; what an error asks for does."""
    helped = 0
    for seed in seeds:
        used = ram_bytes(_World(_drawn(seed, most_nodes=6)).plan(sram=None))
        for part in (2, 3):
            small = tuple(Memory(name=name, size_bytes=used * part // 6 - 4) for name in ("dtcm", "sram"))
            world = _World(_drawn(seed, most_nodes=6), platform=replace(WORLD.platform, memories=small))
            try:
                plan = world.plan()
            except TilewrightError as error:
                lines = [line for line in error.fix if line.startswith("--memory")]
                for sizes in (dict(re.findall(r"--memory (\w+)=(\d+)", line)) for line in lines):
                    assert world.plan(**{name: int(size) for name, size in sizes.items()})
                continue
            assert bool(_slower(plan)) == bool(_notes(plan)) == (not world.fits({}))
            helped += bool(_slower(plan))
    assert helped >= least


def test_the_home_memory_of_a_machine_with_another_one() -> None:
    """What computes where values live has its scratch there, as much as eight cores take."""
    world = _World(_chain(3), platform=CLUSTER)
    plan = world.plan(l2=520)
    assert _slower(plan) == {"clip0": "portable.clip", "clip1": "middle.Clip", "clip2": "middle.Clip"}
    assert "(l2)" in _notes(plan)[0].message


def test_a_near_memory() -> None:
    """Scratch is in the scratchpad, beside the least tiles."""
    near = RUNTIME_BYTES + SCRATCH["fast"][0]
    world = _World(_chain(3), platform=CLUSTER, tiler=COST)
    assert not world.fits({}, l1=near)
    plan = world.plan(l1=near)
    assert list(_slower(plan)) == ["clip0", "clip1", "clip2"]
    assert "(l1)" in _notes(plan)[0].message
    pinned = _World(_chain(3), Decisions(kernels={"clip1": "fast.Clip"}), platform=CLUSTER, tiler=COST)
    with pytest.raises(TilewrightError, match="TW5101"):
        pinned.plan(l1=near)


def test_steps_that_are_tiled_together() -> None:
    """A pinned group has the scratch of its neediest step, and one tile more than either of its steps."""
    pins = Decisions(groups=(("clip0", "clip1"),))
    near = RUNTIME_BYTES + SCRATCH["fast"][0] + 16
    world = _World(_chain(2), pins, platform=CLUSTER, tiler=COST)
    with pytest.raises(TilewrightError, match="TW4042"):
        _World(_chain(2), replace(pins, kernels={"clip0": "fast.Clip"}), platform=CLUSTER, tiler=COST).plan(l1=near)
    plan = world.plan(l1=near)
    assert [group.steps for group in plan.tiled.groups] == [("clip0", "clip1")]
    assert list(_slower(plan)) == ["clip0", "clip1"]


def test_steps_regain_the_fastest_kernels_that_have_room_and_no_more() -> None:
    """The first step has its input and its output alive: 8 bytes are left. Later ones compute in place."""
    world = _World(_chain(3))
    misfits = world.planner.best(with_memories(world.bound({}), {"sram": 520}))
    plain = {f"clip{index}": "portable.clip" for index in range(3)}
    plan = world.planner.best(with_memories(world.bound(plain), {"sram": 520}))
    assert not isinstance(misfits, Allocated) and isinstance(plan, Allocated)
    choice = choice_of(plan.tiled.scheduled.bound, world.planner.operators, Decisions())
    assert regained(plan, misfits[0], choice) == {"clip0": "small.Clip", "clip1": "fast.Clip", "clip2": "fast.Clip"}
    assert regained(plan, replace(misfits[0], overflow=None), choice) == {}
