"""Where everything is in C: which variable it is reached from, and how far."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.stages import Allocated, Placement, PoolUse, Storage
from tilewright.lower.names import offset_names
from tilewright.lower.operands.addresses import AddressBook, address_book, members_of, ports_of


def book_of(toy: Any, plan: Allocated, *, named: bool = True) -> AddressBook:
    graph = plan.tiled.scheduled.bound.graph
    return address_book(plan, members_of(graph, "toy"), offset_names(plan, toy.operators, "toy") if named else {})


def test_a_buffer_in_a_pool_has_a_name_and_an_offset(toy: Any) -> None:
    plan = toy.plan(toy.graph())
    turned = book_of(toy, plan).of_value("turned")
    assert (str(turned.address), turned.where) == ("ram + TOYREVERSE_1_OUT", "ram")
    assert turned.offset_bytes == plan.placements["turned"].offset_bytes
    assert str(book_of(toy, plan).of_buffer("turned", 3).address) == "ram + TOYREVERSE_1_OUT + 3"
    assert str(book_of(toy, plan, named=False).of_buffer("turned", 3).address) == "ram + 3"


def test_a_value_inside_a_buffer_begins_further_on(toy: Any) -> None:
    plan = toy.plan(toy.graph())
    scheduled = plan.tiled.scheduled
    storage = {**scheduled.storage, "turned": Storage(buffer="biased", offset_bytes=4)}
    moved = replace(plan, tiled=replace(plan.tiled, scheduled=replace(scheduled, storage=storage)))
    found = book_of(toy, moved).of_value("turned")
    assert str(found.address) == "ram + TOYBIAS_0_OUT + 4"
    assert found.offset_bytes == plan.placements["biased"].offset_bytes + 4


def test_the_callers_memory_is_a_parameter_of_its_own(toy: Any) -> None:
    book = book_of(toy, toy.plan(toy.graph(), io="user"))
    x = book.of_value("mfcc:0")
    assert (x.where, str(x.address), str(x.outside)) == (
        "caller", "mfcc_0", "(const uint8_t *)inputs->mfcc_0"
    )  # fmt: skip
    assert book.owners == {"mfcc:0": "mfcc:0", "scores": "scores"}
    assert [one.type for one in book.callers.values()] == ["const uint8_t *", "uint8_t *"]
    assert book.pool_of("scores") is None


def test_an_output_that_shares_bytes_cannot_be_the_callers(toy: Any) -> None:
    plan = toy.plan(toy.graph(), io="user")
    buffers = tuple(replace(one, size_bytes=99) if one.name == "scores" else one for one in plan.tiled.buffers)
    with pytest.raises(TilewrightError) as caught:
        book_of(toy, replace(plan, tiled=replace(plan.tiled, buffers=buffers)))
    assert (caught.value.code, caught.value.where) == ("TW5020", "buffer 'scores'")


@pytest.mark.slow
def test_pools_are_those_that_are_used_and_constants_have_their_header(toy: Any) -> None:
    plan = toy.plan(toy.graph())
    book = book_of(toy, plan)
    (ram,), (flash,) = book.pools, book.constants
    assert (ram.memory, ram.size_bytes) == ("ram", 30)
    assert (flash.memory, flash.size_bytes) == ("flash", 26)
    assert book.pool_of("biased") == ram
    floats = book_of(toy, toy.plan(toy.float_graph(), io="user"))
    assert floats.constants == ()


def test_what_the_application_places_is_a_pool_of_its_own(toy: Any) -> None:
    memories = tuple(
        replace(one, managed_by="application") if one.name == "ram" else one for one in toy.platform.memories
    )
    plan = toy.plan(toy.graph(), platform=replace(toy.platform, memories=memories))
    book = book_of(toy, plan)
    assert {pool.buffer for pool in book.pools} == {
        name for name, one in plan.placements.items() if one.memory == "ram"
    }
    mine = next(pool for pool in book.pools if pool.buffer == "turned")
    assert book.pool_of("turned") == mine and str(book.of_value("turned").address) == mine.base


def test_lasting_copies_are_in_a_pool_beside_the_others(toy: Any) -> None:
    plan = toy.plan(toy.graph())
    kept = replace(next(one for one in plan.tiled.buffers if one.name == "/bias.B"), name="copy", kind="resident")
    plan = replace(
        plan,
        tiled=replace(plan.tiled, buffers=(*plan.tiled.buffers, kept)),
        placements={**plan.placements, "copy": Placement(memory="ram", offset_bytes=0)},
        pools=(*plan.pools, PoolUse(memory="ram", kind="resident", used_bytes=12, limit_bytes=None,
                                    lower_bound_bytes=12, optimal=True)),
    )  # fmt: skip
    ram, copies = book_of(toy, plan).pools
    assert (ram.base, copies.base, copies.size_bytes, copies.copies) == ("ram", "ram_copies", 12, ("copy",))
    assert str(book_of(toy, plan, named=False).of_buffer("copy").address) == "ram_copies"


def test_members_are_identifiers_that_nothing_else_has() -> None:
    graph = Graph(name="g", inputs=("a:0", "toy", "a.0"), outputs=("a:0",), nodes=(), tensors={}, constants={})
    members = members_of(graph, "toy")
    assert len(set(members.values())) == 4 and "toy" not in members.values()
    assert all(name.isidentifier() for name in members.values())


def test_ports_say_where_they_are_and_whether_they_are_alone(toy: Any) -> None:
    plan = toy.plan(toy.graph())
    book, members = book_of(toy, plan), members_of(toy.graph(), "toy")
    (x,), (y,) = (ports_of(plan, book, members, struct) for struct in ("inputs", "outputs"))
    assert (x.value, x.member, x.pool, x.offset_bytes, str(x.offset)) == (
        "mfcc:0", "mfcc_0", "ram", plan.placements["mfcc:0"].offset_bytes, "IN_MFCC_0"
    )  # fmt: skip
    assert (x.private, y.private) == (False, False), "the output takes bytes of the input"
    apart = {**plan.placements, "scores": Placement(memory="ram", offset_bytes=100)}
    alone = replace(plan, placements=apart)
    (y,) = ports_of(alone, book_of(toy, alone), members, "outputs")
    assert y.private and y.copied_from == ""


def test_an_output_in_the_memory_of_another_port_is_copied_from_there(toy: Any) -> None:
    """`again` is an output, too, and stored where `scores` is; and so is the input, as it is."""
    plan = toy.plan(toy.graph(), io="user")
    scheduled = plan.tiled.scheduled
    graph = replace(scheduled.bound.graph, outputs=("scores", "again", "mfcc:0"))
    storage = {**scheduled.storage, "again": scheduled.storage["scores"]}
    changed = replace(scheduled, bound=replace(scheduled.bound, graph=graph), storage=storage)
    shared = replace(plan, tiled=replace(plan.tiled, scheduled=changed))
    book, members = book_of(toy, shared), members_of(graph, "toy")
    found = {one.value: one.copied_from for one in ports_of(shared, book, members, "outputs")}
    assert found["scores"] == ""
    assert found["again"] == "(uint8_t *)outputs->scores"
    assert found["mfcc:0"] == "(const uint8_t *)inputs->mfcc_0"
    assert [one.copied_from for one in ports_of(shared, book, members, "inputs")] == [""]
    assert all(one.pool == "" for one in ports_of(shared, book, members, "outputs"))


def test_state_is_no_port(toy: Any) -> None:
    plan = toy.plan(toy.graph())
    states = replace(plan, decisions=replace(plan.decisions, state={"mfcc:0": "scores"}))
    book, members = book_of(toy, states), members_of(toy.graph(), "toy")
    assert ports_of(states, book, members, "inputs") == ports_of(states, book, members, "outputs") == ()
