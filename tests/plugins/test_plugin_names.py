"""Names across packages: clashes, misspellings, what is not installed, what is loaded for whom."""

from __future__ import annotations

from typing import Any

PACK = """
from tilewright.api import hookimpl
from tilewright.api.kernel import Kernel
@hookimpl
def tilewright_kernels():
    return (Kernel(name="{kernel}", op="Clip", target="{target}"),)
"""
LISTENER = """
from tilewright.api import hookimpl
HEARD = []
@hookimpl
def tilewright_stage_finished(event):
    HEARD.append(event.stage)
    {then}
"""


def test_two_packages_with_one_target(make_site: Any, make_plugin: Any, healthy: Any, source_of_target: Any) -> None:
    source = source_of_target("twin")
    twins = [
        make_plugin(name=name, source=source, entry_points={"platform.twin": name.replace("-", "_")})
        for name in ("twin-b", "twin-a")
    ]
    site = make_site(healthy, *twins)
    needed, unneeded, doctor = site.probe("compile:twin", "compile:healthy", "doctor")
    assert (needed["exit"], needed["code"]) == (8, "TW8007")
    assert "target 'twin' is offered by twin-a 1.2.3 and by twin-b 1.2.3" in needed["error"]
    assert "TILEWRIGHT_BLOCK=twin-b" in needed["error"]
    (line,) = unneeded["answer"]["warnings"]
    assert "twin-a 1.2.3 and by twin-b 1.2.3" in line
    status = {report["package"]: report["status"] for report in doctor["answer"]}
    assert (status["twin-a"], status["twin-b"], status["healthy-plugin"]) == ("clash", "clash", "ok")
    (settled,) = site.probe("compile:twin", TILEWRIGHT_BLOCK="twin-b")
    assert settled["answer"]["who"]["platform twin"] == "twin-a"


def test_a_plugin_cannot_shadow_what_is_built_in(make_site: Any, make_plugin: Any, healthy: Any) -> None:
    shadow = make_plugin(name="shadow", source="", entry_points={"allocator.auto": "shadow"})
    needed, imported = make_site(healthy, shadow).probe("compile:healthy", "imported:shadow")
    assert needed["exit"] == 8
    assert "allocator 'auto' is offered by shadow 1.2.3 and by tilewright " in needed["error"]
    assert imported["answer"] == []


def test_two_packs_with_one_kernel_are_both_left_out(make_site: Any, make_plugin: Any, healthy: Any) -> None:
    source = PACK.format(kernel="fast.clip", target="*")
    packs = [
        make_plugin(name=name, source=source, entry_points={f"kernel.{name}": name.replace("-", "_")})
        for name in ("pack-a", "pack-b")
    ]
    (answer,) = make_site(healthy, *packs).probe("compile:healthy")
    assert "fast.clip" not in answer["answer"]["kernels"]
    (line,) = answer["answer"]["warnings"]
    assert "kernel 'fast.clip' is offered by pack-a 1.2.3 and by pack-b 1.2.3" in line


def test_a_pack_for_a_target_is_loaded_only_for_it(
    make_site: Any, make_plugin: Any, healthy: Any, source_of_target: Any
) -> None:
    other = make_plugin(name="other", source=source_of_target("other"), entry_points={"platform.other": "other"})
    pack = make_plugin(
        name="for-other",
        source=PACK.format(kernel="other.clip", target="other"),
        entry_points={"kernel.other.fast": "for_other"},
    )
    site = make_site(healthy, other, pack)
    without, imported, with_pack = site.probe("compile:healthy", "imported:for_other", "compile:other")
    assert "other.clip" not in without["answer"]["kernels"]
    assert imported["answer"] == []
    assert "other.clip" in with_pack["answer"]["kernels"]
    assert with_pack["answer"]["who"]["kernel other.clip"] == "for-other"


def test_a_broken_pack_for_the_chosen_target_is_an_error(make_site: Any, make_plugin: Any, healthy: Any) -> None:
    pack = make_plugin(name="broken-pack", source="1 / 0", entry_points={"kernel.healthy.fast": "broken_pack"})
    (answer,) = make_site(healthy, pack).probe("compile:healthy")
    assert answer["exit"] == 8
    assert "target 'healthy' needs plugin broken-pack 1.2.3" in answer["error"]
    assert "ZeroDivisionError" in answer["error"]
    assert "broken_pack.py:1" in answer["error"]


def test_order_of_installation_does_not_matter(make_site: Any, make_plugin: Any, healthy: Any) -> None:
    packs = [
        make_plugin(
            name=name,
            source=PACK.format(kernel=f"{name}.clip", target="*"),
            entry_points={f"kernel.{name}": name.replace("-", "_")},
        )
        for name in ("z-pack", "a-pack", "m-pack")
    ]
    answers = [make_site(*order).probe("compile:healthy") for order in ((healthy, *packs), (*packs[::-1], healthy))]
    assert answers[0] == answers[1]
    assert answers[0][0]["answer"]["order"] == sorted(answers[0][0]["answer"]["order"])


def test_names_that_are_not_installed(make_site: Any, healthy: Any) -> None:
    near, unknown, blocked = make_site(healthy).probe(
        "compile:helthy", "compile:zzz", "named:runner.nothing", TILEWRIGHT_BLOCK="no-such-package"
    )
    assert all(answer["exit"] == 8 for answer in (near, unknown, blocked))
    assert "did you mean 'healthy'?" in near["error"]
    assert "did you mean" not in unknown["error"]
    assert "healthy" in unknown["error"]
    assert "runner 'nothing' is not installed" in blocked["error"]


def test_blocking_what_is_not_there_is_a_warning(make_site: Any, healthy: Any) -> None:
    (answer,) = make_site(healthy).probe("compile:healthy", TILEWRIGHT_BLOCK="no-such-package, ")
    (line,) = answer["answer"]["warnings"]
    assert "TILEWRIGHT_BLOCK names 'no-such-package'" in line


def test_a_misnamed_entry_point_says_what_was_meant(make_site: Any, make_plugin: Any, healthy: Any) -> None:
    misnamed = make_plugin(name="misnamed", source="", entry_points={"platfrom.misnamed": "misnamed"})
    (answer,) = make_site(healthy, misnamed).probe("compile:misnamed")
    assert answer["exit"] == 8
    assert "entry point 'platfrom.misnamed' is not named KIND.NAME; did you mean 'platform'?" in answer["error"]


def test_observers_hear_and_cannot_harm(make_site: Any, make_plugin: Any, healthy: Any) -> None:
    listener = make_plugin(
        name="listener", source=LISTENER.format(then=""), entry_points={"observer.listener": "listener"}
    )
    grumbler = make_plugin(
        name="grumbler", source=LISTENER.format(then="1 / 0"), entry_points={"observer.grumbler": "grumbler"}
    )
    (answer,) = make_site(healthy, listener, grumbler).probe("observe:healthy")
    assert answer["answer"]["heard"] == ["bind"]
    (line,) = answer["answer"]["warnings"]
    assert "grumbler 1.2.3 failed while observing stage 'bind': ZeroDivisionError" in line


ALLOCATOR = """
from tilewright.api import hookimpl
from tilewright.api.allocator import Budget, Problem, Solution
from tilewright.api.passes import GraphPass, PassResult
class Lazy:
    name = "lazy"
    summary = "never finds anything"
    def solve(self, problem, budget):
        return Solution(status="unknown")
@hookimpl
def tilewright_allocators():
    return (Lazy(),)
@hookimpl
def tilewright_graph_passes():
    return (GraphPass(name="lazy.pass", summary="", apply=lambda graph, context: PassResult(graph=graph)),)
"""


def test_choosing_an_allocator_does_not_bring_graph_passes(make_site: Any, make_plugin: Any, healthy: Any) -> None:
    alone = make_plugin(name="lazy", source=ALLOCATOR, entry_points={"allocator.lazy": "lazy"})
    both = make_plugin(
        name="lazy", source=ALLOCATOR, entry_points={"allocator.lazy": "lazy", "graph_pass.lazy": "lazy"}
    )
    passes = [
        make_site(healthy, plugin).probe("allocator:lazy")[0]["answer"]["graph_passes"] for plugin in (alone, both)
    ]
    assert "lazy.pass" not in passes[0]
    assert "lazy.pass" in passes[1]
