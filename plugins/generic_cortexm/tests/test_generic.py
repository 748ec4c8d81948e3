"""The target `generic`, as an installed package offers it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tilewright.errors import Exit, TilewrightError
from tilewright.ir.machines.platform import Platform
from tilewright.plugins import discover, load_named


@pytest.fixture(name="generic")
def _generic() -> Platform:
    return load_named(("platform", "generic")).platforms["generic"]


def test_is_announced_by_this_package() -> None:
    package, _ = discover().find("platform", "generic")
    assert package.name == "tilewright-cortexm"
    assert package.requirement.startswith("tilewright")


def test_a_compilation_for_it_imports_no_kernel_of_cortex_m() -> None:
    """Only what its estimates need."""
    code = (
        "import sys; from tilewright.plugins.loading import load_for; load_for(target='generic'); "
        "print(*sorted(name for name in sys.modules if name.startswith('tilewright_cortexm')))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    needed = ("", ".generic", ".instructions", ".work")
    assert done.stdout.split() == [f"tilewright_cortexm{name}" for name in needed]


def test_has_one_unlimited_memory_of_each_kind(generic: Platform) -> None:
    assert [(memory.name, memory.kind, memory.size_bytes) for memory in generic.memories] == [
        ("ram", "ram", None),
        ("flash", "const", None),
    ]
    assert generic.copies == ()
    assert generic.runners == ("host",)


def test_a_limit_is_taken_and_leaves_the_original_alone(generic: Platform) -> None:
    limited = generic.with_limits({"ram": 65536})
    assert limited.memory("ram").size_bytes == 65536
    assert generic.memory("ram").size_bytes is None


def test_alignment_is_a_setting_of_both_pools(generic: Platform) -> None:
    configured = generic.configure({"align": "32"})
    assert {memory.align for memory in configured.memories} == {32}
    assert configured.settings == {"align": "32"}
    assert {memory.align for memory in generic.configure({}).memories} == {16}


@pytest.mark.parametrize("settings", [{"align": "3"}, {"speed": "high"}])
def test_a_wrong_setting_is_a_usage_error(generic: Platform, settings: dict[str, str]) -> None:
    with pytest.raises(TilewrightError) as refused:
        generic.configure(settings)
    assert refused.value.exit_code is Exit.USAGE
    assert next(iter(settings)) in str(refused.value)
