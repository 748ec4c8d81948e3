"""Knows what kernels wait for when eight cores run them: instructions, and the floating-point units that they share.
Does not know what one core alone takes (`costs`, `float_costs`, `float_function_costs`).

Every core has 512 bytes of instructions at hand, further ones come from a cache for all. Two cores share a unit that
adds and multiplies, all share the one that divides and takes roots: 14 cycles for each result. The factors were fitted
to steps of networks on GVSoC, one tile or few, in the middle of what was found; figures beside them say how far it
spreads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from tilewright.api.kernel import Kernel, Matched, TileShape
from tilewright_siracusa.kernels.depthwise import DEPTHWISE, DEPTHWISE_TAPS, fetched_calls
from tilewright_siracusa.kernels.float_elements import is_straight
from tilewright_siracusa.kernels.forms import WORD, Form

PLACE = 1.07  # windows read where they are: 1.02 to 1.15
COLUMNS = 1.15  # windows copied to columns first
NARROW = 1.18  # the same, where a tap is a word or less: 1.08 to 1.3
FLOATS = 1.6  # functions of floats
QUOTIENTS = 1.15  # of two floats, without the divider
DIVIDED = 9.2  # the same with it: what is limited afterwards
STRIPS = 1500.0  # cycles until the code of windows that are read from strips is there, for every tile: 1,000 to 2,000
FETCH = 600.0  # cycles until the code of a depthwise convolution's column is there
FACTORS: Mapping[str, float] = MappingProxyType(
    {
        "siracusa.qconv_qadd": PLACE,
        "siracusa.qconv_depthwise_taps": 1.12,
        "siracusa.qaverage_pool": 1.2,
        "siracusa.conv_f32": 1.15,
        "siracusa.conv_depthwise_f32": 1.5,
        "siracusa.gemm_f32": 1.3,
        "siracusa.matmul_f32": 1.35,
        "siracusa.matmul_weights_f32": 1.3,
        "siracusa.add_f32": 1.5,
        "siracusa.sub_f32": 1.5,
        "siracusa.mul_f32": 1.5,
        "siracusa.clip_f32": 1.4,
        "siracusa.leakyrelu_f32": 1.4,
        "siracusa.hardswish_f32": 1.5,
        "siracusa.hardsigmoid_f32": 1.5,
        "siracusa.abs_f32": 1.9,
        "siracusa.neg_f32": 1.9,
        "siracusa.exp_f32": FLOATS,
        "siracusa.erf_f32": 1.85,
        "siracusa.gelu_f32": FLOATS,
        "siracusa.gelutanh_f32": FLOATS,
        "siracusa.softmax_f32": FLOATS,
        "siracusa.log_softmax_f32": FLOATS,
        "siracusa.layer_normalization_f32": 1.35,
        "siracusa.rms_normalization_f32": 1.35,
        "siracusa.sigmoid_f32": FLOATS,
        "siracusa.swish_f32": FLOATS,
        "siracusa.tanh_f32": FLOATS,
        "siracusa.reciprocal_f32": 1.2,
        "siracusa.sqrt_f32": 10.0,  # the divider decides
    }
)


def waiting(kernel: Kernel) -> Kernel:
    """The kernel, priced as one of eight cores runs it."""
    alone = kernel.cycles
    if alone is None:
        return kernel
    factor = _factor_of(kernel.name)
    once = STRIPS if kernel.name == DEPTHWISE.name else 0.0
    fetched = fetched_calls if kernel.name == DEPTHWISE_TAPS.name else None

    def cycles(tile: TileShape) -> float:
        fetching = FETCH * fetched(tile) if fetched else once
        return (alone(tile) + fetching) * factor(tile.site)

    return replace(kernel, cycles=cycles)


def _factor_of(name: str) -> Callable[[Matched], float]:
    if name in ("siracusa.qconv", "siracusa.qconv_nibbles", "siracusa.qconv_words"):
        return _of_convolution
    if name == "siracusa.div_f32":
        return lambda site: QUOTIENTS if is_straight(site) else DIVIDED
    result = FACTORS.get(name, 1.0)
    return lambda site: result


def _of_convolution(site: Matched) -> float:
    form: Form = site.analysis
    if form.direct:
        return PLACE
    return NARROW if form.tap_bytes <= WORD else COLUMNS
