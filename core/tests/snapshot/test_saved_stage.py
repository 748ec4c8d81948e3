"""A state that is exported comes back equal and sound; one that was damaged is refused with its reason."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright.allocate import allocate
from tilewright.allocate.best_fit import BestFit
from tilewright.bind import bind
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph, Node, Quantization, Tensor
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import CopyPath, Memory, MemoryHierarchy, Option, Platform
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Bound, Scheduled, Tiled
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.schedule import schedule
from tilewright.snapshot.saved_stage import SavedStage, decisions_from_json, read_stage, save_stage
from tilewright.testing.random_graphs import SmallWorld, random_graph, small_world
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile


def _world() -> SmallWorld:
    """The small world, with a kernel that packs a constant for Clip."""
    world = small_world()
    packing = Kernel(
        name="small.clip", op="Clip", target="small", rank=9, pack=lambda site: {"T": np.arange(4, dtype=np.int16)}
    )
    return replace(world, kernels={**world.kernels, packing.name: packing})


WORLD = _world()


def _plan(graph: Graph, world: SmallWorld = WORLD) -> Allocated:
    bound = bind(graph, world.platform, world.operators, world.kernels, Decisions())
    tiled = tile(schedule(bound, world.operators, Decisions()), world.operators, WholeTiler(), Decisions())
    return allocate(tiled, Decisions(), BestFit(), Budget(work=500))


def _stages(plan: Allocated) -> Iterator[SavedStage]:
    scheduled = plan.tiled.scheduled
    yield from (scheduled.bound.graph, scheduled.bound, scheduled, plan.tiled, plan, plan.decisions)


def _same_arrays(one: SavedStage, other: SavedStage) -> bool:
    mine, theirs = _arrays(one), _arrays(other)
    return list(mine) == list(theirs) and all(
        mine[name].dtype == theirs[name].dtype and np.array_equal(mine[name], theirs[name]) for name in mine
    )


def _arrays(value: SavedStage) -> dict[str, Any]:
    if isinstance(value, Decisions):
        return {}
    if isinstance(value, Graph):
        return dict(value.constants)
    bound = _bound(value)
    return {**bound.graph.constants, **bound.constants}


def _bound(value: Bound | Scheduled | Tiled | Allocated) -> Bound:
    if isinstance(value, Allocated):
        value = value.tiled
    if isinstance(value, Tiled):
        value = value.scheduled
    return value.bound if isinstance(value, Scheduled) else value


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False))
def test_every_stage_comes_back_equal(tmp_path: Path, chance: random.Random) -> None:
    for value in _stages(_plan(random_graph(chance, WORLD.operators))):
        save_stage(value, tmp_path)
        again = read_stage(tmp_path, WORLD)
        assert type(again) is type(value)
        assert again == value
        assert _same_arrays(value, again)


def test_a_graph_with_everything_in_it_comes_back_equal(tmp_path: Path) -> None:
    requant = Requant(scale=(0.5, 0.1), zero_point=-3, low=-128, high=127)
    graph = Graph(
        name="g",
        inputs=("x",),
        outputs=("y",),
        nodes=(
            Node(
                name="n/1 é",
                op="QConv",
                inputs=("x", "", "w"),
                outputs=("y",),
                attributes={"requant": requant, "pads": (0, 1), "alpha": float("inf"), "mode": "x", "empty": ()},
                origin=("Conv_1",),
            ),
        ),
        tensors={
            "x": Tensor(
                name="x", dtype=DType.I8, shape=(1, 2), quantization=Quantization(scale=(0.1,), zero_point=(3,), axis=0)
            ),
            "w": Tensor(name="w", dtype=DType.F64, shape=(0, 3)),
            "y": Tensor(name="y", dtype=DType.I8, shape=()),
        },
        constants={"w": np.zeros((0, 3))},
    )
    save_stage(graph, tmp_path)
    again = read_stage(tmp_path, WORLD)
    assert again == graph
    assert _same_arrays(graph, again)


def test_the_same_value_gives_the_same_bytes(tmp_path: Path) -> None:
    plan = _plan(random_graph(random.Random(5), WORLD.operators))
    for name in ("one", "two"):
        save_stage(plan, tmp_path / name)
    for file in ("state.json", "arrays.npz"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_nothing_is_pickled(tmp_path: Path) -> None:
    graph = random_graph(random.Random(5), WORLD.operators)
    with pytest.raises(TypeError):
        save_stage(replace(graph, constants={"c": np.array([object()])}), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_configured_platform_with_the_copies_of_a_board_comes_back(tmp_path: Path) -> None:
    path = CopyPath(source="far", target="near", start="copy(${dst}, ${src});")
    board = MemoryHierarchy(
        name="board",
        summary="",
        platform="small",
        memories=(Memory(name="far", size_bytes=4096, base=0x2000), Memory(name="near", size_bytes=512)),
        copies=(path,),
    )
    small = Platform(
        name="small", memories=(Memory(name="sram", size_bytes=None),), options=(Option(name="o", help=""),)
    )
    used = board.on(small.configure({"o": "7"}))
    world = replace(WORLD, platforms={"small": small}, memory_hierarchies={"board": board})
    plan = _plan(random_graph(random.Random(5), WORLD.operators), replace(world, platforms={"small": used}))
    save_stage(plan, tmp_path)
    assert read_stage(tmp_path, world) == plan
    _refuses(tmp_path, "TW1222", "has no copies", replace(world, memory_hierarchies={}))


def _refuses(folder: Path, code: str, words: str, world: SmallWorld = WORLD) -> None:
    with pytest.raises(TilewrightError) as caught:
        read_stage(folder, world)
    assert caught.value.code == code, caught.value
    assert words in " ".join(str(caught.value).split())
    assert caught.value.exit_code in (Exit.MODEL, Exit.PLUGIN)


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """A folder with an allocated state that has constants and several steps."""
    seeds = (random_graph(random.Random(seed), WORLD.operators) for seed in range(99))
    plan = next(plan for graph in seeds if len((plan := _plan(graph)).tiled.scheduled.steps) > 3 and _arrays(plan))
    save_stage(plan, tmp_path)
    return tmp_path


def test_a_kernel_or_target_that_is_not_installed(exported: Path) -> None:
    _refuses(exported, "TW8001", "kernel 'small.clip'", small_world())
    _refuses(exported, "TW8001", "target 'small'", replace(WORLD, platforms={}))


def _edit(folder: Path, change: Callable[[Any], object]) -> None:
    file = folder / "state.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    change(document)
    file.write_text(json.dumps(document), encoding="utf-8")


def _scheduled(document: Any) -> Any:
    return document["value"]["tiled"]["scheduled"]


def _overlap(document: Any) -> None:
    for place in document["value"]["placements"].values():
        place["offset_bytes"] = 0 if place["memory"] == "sram" else place["offset_bytes"]


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda d: d.update(version=99), "TW1221", "version 99"),
        (lambda d: d.update(format="other"), "TW1220", "not written by tilewright"),
        (lambda d: d.update(stage="cooked"), "TW1220", "'cooked'"),
        (lambda d: d.update(stage=[]), "TW1220", "no stage"),
        (lambda d: d.pop("value"), "TW1222", "None is not a Allocated"),
        (lambda d: d["value"].pop("plan_id"), "TW1222", "field plan_id"),
        (lambda d: d["value"].update(plan_id=1), "TW1222", "plan id"),
        (lambda d: d["value"].update(surplus=1), "TW1222", "'surplus' is not a field"),
        (_overlap, "TW1222", ""),
        (lambda d: _scheduled(d)["steps"].reverse(), "TW1222", ""),
        (lambda d: _scheduled(d)["storage"].clear(), "TW1222", "stored nowhere"),
        (lambda d: _scheduled(d)["buffers"][0].update(size_bytes=1), "TW1222", "does not fit"),
        (lambda d: _scheduled(d)["buffers"][0].update(size_bytes="x"), "TW1222", "buffers[0].size_bytes: 'x'"),
        (lambda d: _scheduled(d)["bound"]["graph"]["nodes"].reverse(), "TW1222", "before it is written"),
        (lambda d: _scheduled(d)["bound"]["graph"].update(inputs=["ghost"]), "TW1222", "'ghost' has no type"),
        (lambda d: _scheduled(d)["bound"]["platform"].pop("name"), "TW1222", "platform has no name"),
        (lambda d: _scheduled(d)["bound"]["constants"].update(c={"array": "a00"}), "TW1222", "not in arrays.npz"),
        (lambda d: _scheduled(d)["bound"]["layouts"].clear(), "TW1222", "has no layout"),
        (lambda d: d["value"]["tiled"]["groups"].clear(), "TW1222", "do not cover"),
    ],
)
def test_a_state_that_was_edited_is_verified(
    exported: Path, change: Callable[[Any], object], code: str, words: str
) -> None:
    _edit(exported, change)
    _refuses(exported, code, words)


def test_every_single_damage_is_an_error_with_a_code(exported: Path) -> None:
    """Cut files, flipped bytes: never a traceback of another kind, never a silent success with other contents."""
    original = read_stage(exported, WORLD)
    chance = random.Random(0)
    for name in ("state.json", "arrays.npz"):
        content = (exported / name).read_bytes()
        for _ in range(60):
            damaged = bytearray(content)
            where = chance.randrange(len(damaged))
            if chance.randrange(3):
                damaged[where] ^= 1 << chance.randrange(8)
            else:
                del damaged[where:]
            (exported / name).write_bytes(damaged)
            try:
                again = read_stage(exported, WORLD)
            except TilewrightError as error:
                assert error.code in ("TW1220", "TW1221", "TW1222", "TW8001")
            else:
                assert name == "state.json" or _same_arrays(original, again)
        (exported / name).write_bytes(content)


def test_a_state_of_another_model(exported: Path) -> None:
    plan = read_stage(exported, WORLD, "of any model, for none was named")
    save_stage(plan, exported, "a1")
    assert read_stage(exported, WORLD) == read_stage(exported, WORLD, "a1") == plan
    with pytest.raises(TilewrightError, match="TW1223"):
        read_stage(exported, WORLD, "b2")
    save_stage(Decisions(), exported, "a1")  # decisions are for any model that has what they name
    assert read_stage(exported, WORLD, "b2") == Decisions()


def test_an_array_with_other_contents_is_seen(exported: Path) -> None:
    with np.load(exported / "arrays.npz") as found:
        arrays = {name: found[name] for name in found.files}
    changed = {name: array + array.dtype.type(1) for name, array in arrays.items()}
    np.savez(exported / "arrays.npz", **changed)
    _refuses(exported, "TW1220", "other contents")


def test_a_folder_without_a_state(tmp_path: Path) -> None:
    _refuses(tmp_path, "TW1220", "state.json")
    (tmp_path / "state.json").write_text("[" * 100_000, encoding="utf-8")
    _refuses(tmp_path, "TW1220", "damaged")


def test_decisions_written_by_a_person() -> None:
    text = '{"memories": {"x": "dtcm"}, "order": ["a", "b"]}'
    assert decisions_from_json(text) == Decisions(memories={"x": "dtcm"}, order=("a", "b"))
    for wrong in ("", "[]", '{"memory": {}}', '{"offsets": {"x": "4"}}'):
        with pytest.raises(TilewrightError) as caught:
            decisions_from_json(wrong)
        assert caught.value.code == "TW1106"
