"""The table of families: every module that has operators, each of them offering some."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import tilewright.operators
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.operators.families import FAMILIES


def test_every_family_is_listed() -> None:
    folder = Path(tilewright.operators.__file__).parent
    found = {
        ".".join(("tilewright.operators", *path.relative_to(folder).with_suffix("").parts)).removesuffix(".__init__")
        for path in folder.rglob("*.py")
        if "\nOPERATORS" in path.read_text(encoding="utf-8")
    }
    assert found == set(FAMILIES)


def test_every_family_offers_operators_and_kernels_of_theirs() -> None:
    for family in map(import_module, FAMILIES):
        names = {operator.name for operator in family.OPERATORS if isinstance(operator, Operator)}
        assert names and len(names) == len(family.OPERATORS), family.__name__
        assert all(isinstance(kernel, Kernel) and kernel.op in names for kernel in family.KERNELS), family.__name__


def test_no_operator_and_no_kernel_is_offered_twice() -> None:
    assert len(set(FAMILIES)) == len(FAMILIES)
    modules = [import_module(family) for family in FAMILIES]
    for offered in ([each.name for module in modules for each in module.OPERATORS],
                    [each.name for module in modules for each in module.KERNELS]):  # fmt: skip
        assert len(set(offered)) == len(offered)
