"""Where the C of this package is: every file is found by its name, and a shift that clamps is the same for all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.c_text.rendering import render_source
from tilewright.ir.machines.kernel import Kernel
from tilewright_cortexm.kernels import sources
from tilewright_cortexm.kernels.sources import c_fragment, each_of, narrowed

FOLDER = Path(sources.__file__).parent


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.h")))
def test_every_header_is_a_section_under_its_name(name: str) -> None:
    section = c_fragment(name)
    assert section.text.strip() and section.name.endswith(name)


def test_every_template_beside_it_is_named_by_some_module() -> None:
    named = "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py"))
    unnamed = [path.name for path in FOLDER.glob("*.mako") if f'"{path.name}"' not in named]
    assert unnamed == []


@given(shift=st.integers(0, 31), low=st.integers(-128, 0), high=st.integers(1, 255))
def test_a_name_says_all_that_its_function_depends_on(shift: int, low: int, high: int) -> None:
    name, section = narrowed(shift, low, high)
    assert name.isidentifier() and (name, section) == narrowed(shift, low, high)
    assert name not in {narrowed(shift + 1, low, high)[0], narrowed(shift, low - 1, high)[0]}


def test_a_template_is_made_once_for_each_of_several_shapes() -> None:
    shapes = [{"narrow": f"n{at}", "narrow_shift": at, "low": 0, "high": 255} for at in (0, 3)]
    made = each_of(sources.NARROW, shapes)
    kernel = Kernel(name="k", op="QAdd", source=made)
    assert len(made) == 2 and made[0] != made[1] and kernel.source == made
    assert callable(render_source)
