"""QResizeLinear: the reference against rational numbers, C against the reference, what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant, requantise
from tilewright.operators.quantised.qresize import QRESIZE_LINEAR, QRESIZE_LINEAR_PORTABLE, most_weight
from tilewright.testing.kernels.kernel_run import STRICT, UBSAN, run_kernel
from tilewright.testing.kernels.kernel_tiles import run_tiled
from tilewright.testing.operator_sites import ROUNDINGS, byte_array, make_requant, refusal, site_of, with_rounding

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
compiled = settings.get_profile("programs")
BUILDS = (("gcc", *UBSAN), ("gcc", *STRICT, "-O2"), ("clang", *STRICT, "-O2"))
TYPES = st.sampled_from([DType.I8, DType.U8, DType.I16, DType.U16])
AXES = {(3,): ((5,), (6,), (-1,), (10,)), (3, 4): ((7, 6), (1, 5), (0, -2), (3, 8))}


def resized(requant: Requant, x: Array, spatial: tuple[int, ...], zero: int = 3, **changes: Attribute) -> Site:
    names = ("sizes", "slopes", "offsets", "divisors")
    attributes: dict[str, Attribute] = dict(zip(names, AXES[spatial], strict=True))
    return site_of(QRESIZE_LINEAR, [x], {**attributes, "x_zero_point": zero, "requant": requant, **changes})


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spatial = draw(st.sampled_from(list(AXES)))
    x, y_type = byte_array(rng, draw(TYPES), (2, 3, *spatial), draw(st.booleans())), draw(TYPES)
    requant = make_requant(rng, 1, y_type, 255.0 * 24, draw(st.sampled_from(["random", "ties", "coarse"])))
    rounding = draw(st.sampled_from(ROUNDINGS))
    site = resized(
        with_rounding(rng, requant, rounding), x, spatial, draw(st.sampled_from([0, 3])), output_type=y_type.value
    )
    return site, [x]


@given(case=cases())
def test_reference_is_its_definition(case: Case) -> None:
    site, (x,) = case
    assert x is not None
    lines = list(zip(x.shape[2:], *AXES[x.shape[2:]], strict=True))
    (found,) = QRESIZE_LINEAR.reference(site, [x])
    for place in np.ndindex(found.shape):
        taps = [[(0, 1)]]
        for at, (inputs, _, slope, offset, divisor) in zip(place[2:], lines, strict=True):
            position = Fraction(slope * at + offset, divisor)
            before = position.__floor__()
            share = int((position - before) * divisor)
            ends = [min(max(each, 0), inputs - 1) for each in (before, before + 1)]
            taps.append([(ends[0], divisor - share), (ends[1], share)])
        acc = 0
        for chosen in product(*taps):
            weight = int(np.prod([each for _, each in chosen]))
            acc += weight * (
                int(x[(*place[:2], *(index for index, _ in chosen[1:]))]) - site.node.integer("x_zero_point")
            )
        assert int(found[place]) == int(requantise(np.array([acc]), site.node.requant(), 0)[0])


@pytest.mark.slow
@compiled
@given(case=cases(), data=st.data(), build=st.sampled_from(BUILDS))
def test_c_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject, build: tuple[str, ...]
) -> None:
    site, inputs = case
    assert refusal(QRESIZE_LINEAR_PORTABLE, site) is None
    layouts = {name: tuple(data.draw(st.permutations(range(len(site.output.shape))))) for name in "XY"}
    folder = tmp_path_factory.mktemp("c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", build[0])
        (found,) = run_kernel(
            QRESIZE_LINEAR, QRESIZE_LINEAR_PORTABLE, site, inputs, folder=folder, layouts=layouts, flags=build[1:]
        )
    assert np.array_equal(found, QRESIZE_LINEAR.reference(site, inputs)[0])


@pytest.mark.slow
@compiled
@given(case=cases(), data=st.data())
def test_c_in_tiles(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    site, inputs = case
    cuts = {
        loop.name: data.draw(st.integers(1, 3)) for loop in QRESIZE_LINEAR.access(site).loops if loop.name[0] != "t"
    }
    folder = tmp_path_factory.mktemp("c")
    (found,) = run_tiled(QRESIZE_LINEAR, QRESIZE_LINEAR_PORTABLE, site, inputs, cuts=cuts, folder=folder)
    assert np.array_equal(found, QRESIZE_LINEAR.reference(site, inputs)[0])


def test_what_the_kernel_refuses() -> None:
    one = Requant(scale=(0.1,), zero_point=0, low=-128, high=127)
    for x, weight in ((np.zeros((1, 1, 3), dtype), most) for dtype, most in ((np.int8, 2**23), (np.uint16, 2**15))):
        assert refusal(QRESIZE_LINEAR_PORTABLE, resized(one, x, (3,))) is None
        assert most_weight(DType.from_numpy(x.dtype)) == weight
        assert "32-bit sums" in str(refusal(QRESIZE_LINEAR_PORTABLE, resized(one, x, (3,), divisors=(weight + 1,))))
    two = Requant(scale=(0.1, 0.2), zero_point=0, low=-128, high=127)
    assert "one scale" in str(refusal(QRESIZE_LINEAR_PORTABLE, resized(two, x, (3,))))
