"""Pools by name: how they are read, what they make of a target's memories, and how wrong ones are refused."""

from __future__ import annotations

import pytest

from tilewright.config.memory_pools import PoolSpec, parse_pool, with_pools
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.machines.platform import CopyPath, Engine, Memory, Platform

RAM = Memory(name="ram", size_bytes=1000, align=32, bytes_per_cycle=8.0)
FLASH = Memory(name="flash", size_bytes=None, kind="const")
TWO = Platform(name="two", memories=(RAM, FLASH), engines=(Engine(name="cpu"), Engine(name="npu")))


def test_every_word_of_a_pool_is_read() -> None:
    text = "dtcm:96K,soft,section=.dtcm.tw,base=0x20000000,align=64,npu=none"
    assert parse_pool(text) == PoolSpec(
        name="dtcm",
        size_bytes=96 * 1024,
        soft=True,
        section=".dtcm.tw",
        base=0x20000000,
        align=64,
        access={"npu": "none"},
    )
    assert parse_pool("qspi:8M,ro").kind == "const"
    assert parse_pool("sram") == PoolSpec(name="sram")


@pytest.mark.parametrize(
    "text", ["", ":4K", "a b:4K", "a:4X", "a:4K,fast", "a:4K,section=-", "a:4K,base=z", "a:4K,align=3", "a:4K,npu=yes"]
)
def test_what_is_no_pool_says_how_to_write_one(text: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        parse_pool(text)
    assert (caught.value.code, caught.value.exit_code) == ("TW1101", Exit.USAGE)
    assert caught.value.fix


def test_pools_replace_memories_of_their_kind_in_their_order() -> None:
    made = with_pools(TWO, (parse_pool("b:2K"), parse_pool("ram:500"), parse_pool("a:1K")))
    assert [(memory.name, memory.size_bytes) for memory in made.memories] == [
        ("b", 2048),
        ("ram", 500),
        ("a", 1024),
        ("flash", None),
    ]
    assert made.memory("ram").align == 32  # what is not said stays as the target has it
    only = with_pools(TWO, (parse_pool("itcm:1K,ro"), parse_pool("flash")))
    assert [(memory.name, memory.kind) for memory in only.memories] == [
        ("ram", "ram"),
        ("itcm", "const"),
        ("flash", "const"),
    ]
    assert with_pools(TWO, ()) is TWO


def test_engines_have_the_access_that_is_said() -> None:
    memory = with_pools(TWO, (parse_pool("ram:1K,npu=none"),)).memory("ram")
    assert (memory.access_by("cpu"), memory.access_by("npu")) == ("rw", "none")
    assert not memory.lets("npu", "ro")
    assert FLASH.lets("cpu", "ro")
    assert not FLASH.lets("cpu", "rw")


COPYING = Platform(
    name="near",
    memories=(RAM, Memory(name="l1", size_bytes=100), FLASH),
    copies=(CopyPath(source="ram", target="l1", start=""),),
    backing="ram",
    inner="l1",
)


@pytest.mark.parametrize(
    ("platform", "texts", "words"),
    [
        (TWO, ["a:1K", "a:2K"], "twice"),
        (TWO, ["ram:1K,ro"], "no pool is left"),
        (TWO, ["a:1K,base=0x100", "b:1K,base=0x200"], "overlap"),
        (TWO, ["a:1K,base=0x101"], "not aligned"),
        (COPYING, ["ram:1K"], "copies from or to l1"),
    ],
)
def test_pools_that_make_no_machine(platform: Platform, texts: list[str], words: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        with_pools(platform, [parse_pool(text) for text in texts])
    assert (caught.value.code, caught.value.exit_code) == ("TW1115", Exit.USAGE)
    assert words in caught.value.message


def test_an_engine_that_is_not_there() -> None:
    with pytest.raises(TilewrightError) as caught:
        with_pools(TWO, (parse_pool("a:1K,gpu=none"),))
    assert caught.value.code == "TW1103"
    assert "cpu, npu" in caught.value.message
