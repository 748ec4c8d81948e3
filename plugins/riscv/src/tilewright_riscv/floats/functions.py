"""Knows functions of floats as straight-line arithmetic: a range is reduced or limited, and a polynomial does the rest.
Does not know how lines become C, nor which kernels use them.

exp(v) = 2^n exp(r) with v = n ln2 + r. Adding 3 * 2^22 + 127 leaves no bit for a fraction, so that it rounds, and the
lowest bits of the sum are the exponent of 2^n. Limits keep that exponent between 1 and 254. Programs that would lose
NaN by their limits `keeps_nan`. Coefficients of exponentials are those of the core's functions; those of the error
function are from tools/error_function.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from tilewright_riscv.floats.lanes import Program

LONG = 6  # lines, more of which are called
_ZERO = 12583039  # 3 * 2^22 + 127
_LN2 = ("0x1.62e4p-1f", "0x1.7f7d1cp-20f")  # the sum of both; up to 2^9 times the first is exact
_EXP = ("1.0f", "1.0f", "0.5f", "0x1.555466p-3f", "0x1.5552fep-5f", "0x1.1257d2p-7f", "0x1.6ff254p-10f")
EXPM1 = ("0.5f", "0x1.555554p-3f", "0x1.5554fp-5f", "0x1.111308p-7f", "0x1.6d436ep-10f", "0x1.9e0782p-13f")

_TAIL = (
    "0x1.a57056p-3f", "-0x1.71c04ap-4f", "0x1.20402ap-5f", "-0x1.99814ap-7f",
    "0x1.0d6184p-8f", "-0x1.4bd70ep-10f", "0x1.823fdcp-12f", "-0x1.ae60f4p-14f",
    "0x1.c67a86p-16f", "-0x1.a8dd0ap-18f", "0x1.a5ca82p-20f", "-0x1.30e94p-21f",
    "0x1.0be9d8p-23f",
)  # fmt: skip
_ERF = (
    "0x1.75df2ap-2f", "-0x1.8e1d72p-6f", "0x1.3bc436p-9f", "-0x1.1166dp-12f",
    "0x1.e13298p-16f", "-0x1.9faa0ap-19f", "0x1.590cb4p-22f", "-0x1.0d32fp-25f",
    "0x1.863552p-29f", "-0x1.1697ecp-32f", "0x1.8c091cp-36f", "-0x1.a65d8ap-40f",
    "0x1.132c5ep-44f", "-0x1.dec9eap-48f", "0x1.10ec66p-50f", "-0x1.9342fp-55f",
)  # fmt: skip


def _horner(target: str, x: str, degree: int) -> str:
    """Lines: the polynomial whose coefficients are c0, c1 and so on."""
    lines = [f"{target} = fma c{degree} {x} c{degree - 1}"]
    lines += [f"{target} = fma {target} {x} c{power}" for power in reversed(range(degree - 1))]
    return "\n".join(lines)


def _coefficients(values: tuple[str, ...]) -> dict[str, str]:
    return {f"c{power}": value for power, value in enumerate(values)}


def _signed(values: tuple[str, ...]) -> tuple[str, ...]:
    """The coefficients of p(-x)."""
    return tuple(f"-{value}" if power % 2 else value for power, value in enumerate(values))


def _reduced(v: str) -> str:
    """Lines: v = n ln2 + the new v, 2^n 2^shift is p; y is lost."""
    return f"""
        p = fma {v} log2e zero
        w = word p
        y = sub p zero
        {v} = less y ln2_high {v}
        {v} = less y ln2_low {v}
        p = power w"""


def _reduction(shift: int, log2e: str = "0x1.715476p+0f", high: str = _LN2[0], low: str = _LN2[1]) -> Mapping[str, str]:
    return {"log2e": log2e, "zero": f"{_ZERO + shift}.0f", "ln2_high": high, "ln2_low": low}


def _exponential(v: str) -> str:
    """Lines: y = exp(v) 2^shift; v and p are lost."""
    return f"{_reduced(v)}\n{_horner('y', v, 6)}\ny = mul y p"


# Rows: their largest element and, beside it, a sum that is NaN where an element is.
LARGEST = Program(
    name="largest",
    comment="Largest elements, NaN aside, and sums, which show NaN.",
    lines="m = max x m\ns = add s x",
    sums=("m", "s"),
    result="",
)
SMALLEST = Program(
    name="smallest",
    comment="Smallest elements, NaN aside, and sums, which show NaN.",
    lines="m = min x m\ns = add s x",
    sums=("m", "s"),
    result="",
)
# A power of two keeps what counts above 2^-126; the sum has it as well.
SHARES = Program(
    name="shares",
    comment="exp(x - largest) 2^64, and its sums.",
    lines=f"x = sub x largest\nx = max x least{_exponential('x')}\ns = add s y",
    numbers=("largest",),
    constants={**_reduction(64), **_coefficients(_EXP), "least": "-105.0f"},
    sums=("s",),
)
SHARES_ONLY = Program(
    name="shares_only",
    comment="Sums of exp(x - largest) 2^64.",
    lines=SHARES.lines,
    numbers=SHARES.numbers,
    constants=SHARES.constants,
    sums=("s",),
    result="",
)
SCALED = Program(name="scaled", comment="y = x factor.", lines="y = mul x factor", numbers=("factor",))
LESS = Program(
    name="less",
    comment="y = x - first - second.",
    lines="y = sub x first\ny = sub y second",
    numbers=("first", "second"),
)
TOTAL = Program(name="total", comment="Sums.", lines="s = add s x", sums=("s",), result="")
DISTANCES = Program(
    name="distances",
    comment="Sums of x - first.",
    lines="x = sub x first\ns = add s x",
    numbers=("first",),
    sums=("s",),
    result="",
)
SQUARES = Program(
    name="squares",
    comment="Sums of (x - mean)^2.",
    lines="x = sub x mean\ns = fma x x s",
    numbers=("mean",),
    sums=("s",),
    result="",
)


@cache
def normalised(*, scale: bool, shift: bool) -> Program:
    """The last pass of a normalisation."""
    lines = ["y = sub x mean", "y = mul y factor"]
    lines += ["y = fma y scale shift"] if scale and shift else ["y = mul y scale"] if scale else []
    lines += ["y = add y shift"] if shift and not scale else []
    return Program(
        name=f"normalised{'_scaled' if scale else ''}{'_shifted' if shift else ''}",
        comment=f"y = (x - mean) factor{' scale' if scale else ''}{' + shift' if shift else ''}.",
        inputs=("x", *(["scale"] if scale else []), *(["shift"] if shift else [])),
        lines="\n".join(lines),
        numbers=("mean", "factor"),
    )


# -v is reduced, so that what remains has the other sign, and 1 / (1 + exp(-v)) is a quotient of two normal numbers.
_LOGISTIC = f"""
    t = min t most{_reduced("t")}
    {_horner("y", "t", 6)}
    y = fma y p small
    y = div small y"""
_LOGISTIC_CONSTANTS = {
    **_reduction(-24, "-0x1.715476p+0f", f"-{_LN2[0]}", f"-{_LN2[1]}"), **_coefficients(_signed(_EXP)),
    "least": "-104.0f", "most": "60.0f", "small": "0x1p-24f",
}  # fmt: skip


def _unary(name: str, comment: str, lines: str, constants: Mapping[str, str], *numbers: str) -> Program:
    return Program(
        name=f"{name}",
        comment=comment,
        lines=lines,
        constants=constants,
        numbers=numbers,
        keeps_nan=True,
        apart=lines.count("\n") > LONG,
    )


# By the core's operators; numbers are the operators' attributes.
# fmt: off
UNARY: Mapping[str, Program] = MappingProxyType({
    "Abs": Program(name="magnitudes", comment="y = |x|.", lines="y = abs x"),
    "Neg": Program(name="negated", comment="y = -x.", lines="y = mul x c0", constants={"c0": "-1.0f"}),
    "Reciprocal": Program(
        name="reciprocal", comment="y = 1 / x.", lines="y = div one x", constants={"one": "1.0f"}
    ),
    "Sqrt": Program(name="roots", comment="y = sqrt(x).", lines="y = root x"),
    "Clip": _unary("clip", "y = min(max(x, low), high).", "y = max x low\ny = min y high", {}, "low", "high"),
    "LeakyRelu": _unary(
        "leaky_relu",
        "y = x, or alpha x below 0.",
        "p = min x c0\ny = max x c0\ny = fma p alpha y",
        {"c0": "0.0f"},
        "alpha",
    ),
    "HardSigmoid": _unary(
        "hard_sigmoid",
        "y = alpha x + beta, between 0 and 1.",
        "y = fma x alpha beta\ny = max y c0\ny = min y c1",
        {"c0": "0.0f", "c1": "1.0f"},
        "alpha",
        "beta",
    ),
    "HardSwish": _unary(
        "hard_swish",
        "y = x times (x / 6 + 0.5, between 0 and 1).",
        "y = fma x sixth c2\ny = max y c0\ny = min y c1\ny = mul y x",
        {"c0": "0.0f", "c1": "1.0f", "c2": "0.5f", "sixth": "0x1.555556p-3f"},
    ),
    # the square of exp(x / 2), whose exponent always fits
    "Exp": _unary(
        "exp",
        "y = exp(x).",
        f"x = max x least\nx = min x most\nx = mul x c2{_exponential('x')}\ny = mul y y",
        {**_reduction(0), **_coefficients(_EXP), "least": "-105.0f", "most": "89.5f"},
    ),
    "Sigmoid": _unary(
        "sigmoid", "y = 1 / (1 + exp(-x)).", f"t = max x least{_LOGISTIC}", _LOGISTIC_CONSTANTS
    ),
    "Swish": _unary(
        "swish",
        "y = x / (1 + exp(-alpha x)), alpha > 0.",
        f"t = mul x alpha\nt = max t least{_LOGISTIC}\nx = max x lowest\ny = mul y x",
        {**_LOGISTIC_CONSTANTS, "lowest": "-110.0f / alpha"},
        "alpha",
    ),
    "GeluTanh": _unary(
        "gelu_tanh",
        "y = x / (1 + exp(-(a x + b x^3))).",
        f"t = mul x x\nt = fma t cubic linear\nt = mul t x\nt = max t least{_LOGISTIC}\nx = max x least\ny = mul y x",
        {**_LOGISTIC_CONSTANTS, "linear": "0x1.988454p+0f", "cubic": "0x1.2444f2p-4f"},
    ),
    "Erf": _unary(
        "erf",
        "y = erf(x).",
        f"x = max x least\nx = min x most\np = fma x x centre\n{_horner('y', 'p', 15)}\ny = mul y x",
        {**_coefficients(_ERF), "centre": "-7.5f", "least": "-3.9f", "most": "3.9f"},
    ),
    # (exp(2|x|) - 1) / 2 = 2^n h + (2^n - 1) / 2, with |x| = n ln2 / 2 + a and h = a + a^2 q(a)
    "Tanh": _unary(
        "tanh",
        "y = tanh(x).",
        f"""a = abs x
            a = min a most{_reduced("a")}
            {_horner("y", "a", 5)}
            y = mul y a
            a = fma y a a
            y = fma p half minus_half
            a = fma p a y
            y = add a one
            y = div a y
            y = sign y x""",
        {
            **_reduction(0, "0x1.715476p+1f", "0x1.62e4p-2f", "0x1.7f7d1cp-21f"),
            **_coefficients(tuple(f"{value} * {2 << power}.0f" for power, value in enumerate(EXPM1))),
            "most": "10.0f", "half": "0.5f", "minus_half": "-0.5f", "one": "1.0f",
        },
    ),
})

# fmt: on


# The parts of Gelu. What is beyond x >= 0 of the normal distribution is exp(-x^2 / 2) tail(x), and Gelu's distance from
# Relu is that times |x|. x is cut after 8 bits of its fraction, so that the square of the first part is exact.
REACH = Program(
    name="reach",
    comment="A copy, and its largest magnitudes, NaN aside.",
    lines="a = abs x\nm = max a m",
    sums=("m",),
    result="x",
)
BELL = Program(
    name="bell",
    comment="exp(-x^2 / 2) 2^64 for |x| <= 3.",
    lines=f"""
        p = add x eight
        u = sub p eight
        p = add x u
        x = sub x u
        x = mul x p
        u = mul u u
        u = mul u c2{_reduced("u")}
        u = fma x c2 u
        {_horner("y", "u", 6)}
        y = mul y p""",
    constants={
        **_reduction(64, "-0x1.715476p+0f", f"-{_LN2[0]}", f"-{_LN2[1]}"),
        **_coefficients(_signed(_EXP)),
        "eight": "49152.0f",  # 3 * 2^14
    },
)
BELOW_RELU = Program(
    name="below_relu",
    comment="The larger of x and 0, less |x| tail(|x|) bell 2^-64, for |x| <= 3.",
    inputs=("x", "bell"),
    lines=f"""
        a = abs x
        bell = mul bell a
        a = sub a middle
        {_horner("y", "a", 12)}
        y = mul y bell
        x = relu x
        y = less y unit x""",
    constants={**_coefficients(_TAIL), "middle": "1.5f", "unit": "0x1p-64f"},
)


@cache
def pair(op: str, *, relu: bool) -> Program:
    """Two inputs, element by element; `op` is one of the core's operators."""
    name = {"Add": "sum", "Sub": "difference", "Mul": "product", "Div": "quotient"}[op]
    return Program(
        name=f"{name}{'_relu' if relu else ''}",
        comment=f"The {name} of a and b{', 0 where it is negative' if relu else ''}.",
        inputs=("a", "b"),
        lines=f"y = {op.lower()} a b" + ("\ny = relu y" if relu else ""),
    )
