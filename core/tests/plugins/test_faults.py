"""What is wrong with a plugin: one line for who does not need it, an error with a way out for who does."""

from __future__ import annotations

import pytest

from tilewright.errors import Exit
from tilewright.plugins.faults import Fault, clash_fault, one_line

FAULT = Fault(
    status="failed", code="TW8004", package="acme", version="1.2", cause="it burns", at="acme/plugin.py:7",
    fix=("put it out",),
)  # fmt: skip


def test_nobody_needs_it() -> None:
    warning = FAULT.warning()
    assert (warning.severity, warning.code) == ("warning", "TW8004")
    assert warning.message == "plugin acme 1.2 is not used: it burns"


def test_somebody_needs_it() -> None:
    error = FAULT.error("target 'acme'")
    assert (error.code, error.exit_code, error.where) == ("TW8004", Exit.PLUGIN, "acme/plugin.py:7")
    assert error.message == "target 'acme' needs plugin acme 1.2, which cannot be used: it burns"
    assert error.fix[0] == "put it out" and "tilewright plugins doctor" in error.fix[1]


def test_a_clash_is_nobodys_alone() -> None:
    fault = clash_fault("runner 'twin'", [("c", "3"), ("a", "1"), ("b", "2")])
    cause = "runner 'twin' is offered by a 1 and by b 2 and by c 3"
    assert (fault.package, fault.version, fault.others, fault.packages) == ("a", "1", ("b", "c"), {"a", "b", "c"})
    assert fault.warning().message == fault.error("anything").message == cause
    assert "TILEWRIGHT_BLOCK=c" in fault.fix[0]


def test_nobody_is_told_to_block_the_core() -> None:
    (fix,) = clash_fault("kernel 'portable.clip'", [("acme", "1"), ("tilewright", "9")]).fix
    assert fix == "set TILEWRIGHT_BLOCK=acme, or ask its author for another name"


@pytest.mark.parametrize("name", ["tilewright", "acme"])
def test_a_package_that_offers_a_name_twice_is_told_to_offer_it_once(name: str) -> None:
    fault = clash_fault("allocator 'best'", [(name, "1"), (name, "1")])
    assert (fault.cause, fault.others) == (f"allocator 'best' is offered by {name} 1, 2 times", ())
    (fix,) = fault.fix
    assert fix.startswith(f"pip install --force-reinstall {name}     or leave one entry point of that name")


@pytest.mark.parametrize(("error", "said"), [
    (ValueError("\n  first\nsecond"), "ValueError: first"), (KeyError("x"), "KeyError: 'x'"),
    (SystemExit(), "SystemExit"),
])  # fmt: skip
def test_the_first_line_of_what_was_raised(error: BaseException, said: str) -> None:
    assert one_line(error) == said
