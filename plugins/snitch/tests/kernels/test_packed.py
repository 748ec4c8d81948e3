"""Straight lines in streams: which programs have a repetition, and which instructions that is."""

from __future__ import annotations

from tilewright_riscv.floats.functions import LARGEST, LESS, SCALED, SHARES, SQUARES, TOTAL, UNARY, normalised, pair
from tilewright_riscv.floats.lanes import Program
from tilewright_snitch.kernels.packed import instructions, packed, streamed


def lines(program: Program) -> tuple[str, ...]:
    form = packed(program)
    assert form is not None
    return instructions(program, form)


def test_an_input_is_read_where_it_is_used() -> None:
    assert lines(TOTAL) == tuple(f"TW_SN_VFADD(%[s_{at}], %[s_{at}], ft0)" for at in range(4))
    assert lines(SCALED) == ("TW_SN_VFMUL(ft2, ft0, %[factor])",) * 4
    assert lines(SQUARES)[3:5] == ("TW_SN_VFSUB(ft6, ft0, %[mean])", "TW_SN_VFMAC(%[s_0], ft3, ft3)")
    assert lines(pair("Mul", relu=False)) == ("TW_SN_VFMUL(ft2, ft0, ft1)",) * 4


def test_an_input_that_is_used_twice_is_given_twice() -> None:
    found = packed(LARGEST)
    assert found is not None and found.together == 2
    assert lines(LARGEST)[:2] == ("TW_SN_VFMAX(%[m_0], ft0, %[m_0])", "TW_SN_VFADD(%[s_0], %[s_0], ft0)")
    text = "\n".join(streamed(LARGEST).lines)
    assert "TW_SN_RUN(0, 1, " in text and "tw_sn_f32_max_half(m_0)" in text and "tw_sn_halves(s_0)" in text


def test_a_result_leaves_by_the_stream() -> None:
    """A multiply-add cannot write there: it reads what it writes."""
    assert lines(UNARY["HardSigmoid"])[:1] == ("TW_SN_VFMUL(ft3, ft0, %[alpha])",)
    assert lines(UNARY["LeakyRelu"])[-1] == "TW_SN_VFADD(ft2, ft6, ft10)"
    assert [line.count("ft2") for line in lines(normalised(scale=True, shift=False))] == [0] * 8 + [1] * 4


def test_what_streams_cannot_do() -> None:
    assert packed(SHARES) is None  # words of the integer core
    assert packed(normalised(scale=True, shift=True)) is None  # three inputs
    assert packed(UNARY["HardSwish"]) is None  # its input is used at both ends
    assert packed(UNARY["Reciprocal"]) is None
    long = Program(name="long", comment="", lines="\n".join(["y = add x c", *["y = mul y c"] * 4]), numbers=("c",))
    assert packed(long) is None
    assert packed(LESS) is not None
