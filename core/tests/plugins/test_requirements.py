"""Plain requirements are read as `packaging` reads them, without it; all others by it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tilewright.plugins.requirements import Demand, demand_on, normal_name

VERSIONS = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(lambda numbers: ".".join(map(str, numbers)))
BOUNDS = st.lists(st.tuples(st.sampled_from([">=", "<"]), VERSIONS).map("".join), max_size=3).map(",".join)


@pytest.mark.slow
@given(VERSIONS, BOUNDS)
def test_plain_ones_are_read_as_packaging_reads_them(version: str, bounds: str) -> None:
    expected = Requirement(f"core{bounds}").specifier
    demand = demand_on("core", version, f"Core{bounds}")
    assert demand == Demand(f"core{expected}", expected.contains(version, prereleases=True))


@given(st.from_regex(r"[A-Za-z0-9._-]{1,12}", fullmatch=True))
def test_names_are_compared_as_packaging_compares_them(name: str) -> None:
    assert normal_name(name) == canonicalize_name(name)


@pytest.mark.parametrize(("line", "version", "expected"), [
    ("core ~= 1.2", "1.4", Demand("core~=1.2", True)),
    ("core!=1.2,>=1", "1.2", Demand("core!=1.2,>=1", False)),
    ("core<2", "2.0.dev1", Demand("core<2", False)),
    ("core (<2)", "1.0rc1", Demand("core<2", True)),
    ('core<1; python_version < "3"', "2", None),
    ("core[test]>=1", "1", Demand("core>=1", True)),
    ("numpy>=1.26", "1", None),
    ("core-more<1", "1", None),
])  # fmt: skip
def test_any_form(line: str, version: str, expected: Demand | None) -> None:
    assert demand_on("core", version, line) == expected


@pytest.mark.parametrize("line", ["core!!1", "", "core>=", "core>=1,,", "-core"])
def test_what_cannot_be_read(line: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        demand_on("core", "1", line)


def test_packages_of_this_project_do_not_import_packaging() -> None:
    """It takes as long as a tenth of `import onnx`, in every command that asks what is installed."""
    code = "import sys, tilewright.plugins.catalogue as it; it.discover(); print('packaging' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
