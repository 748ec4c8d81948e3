"""Knows how cores without the DSP extension requantise: in the forms that it has, and by the formula in a function that
is not inlined. Does not know layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tilewright.api.kernel import CodeFragments
from tilewright_cortexm.kernels.dsp_requant import AnyForm, DspForm, requantiser
from tilewright_cortexm.kernels.sources import c_template, narrowed

if TYPE_CHECKING:
    from tilewright.api.graph import Requant

_REQUANTISE = c_template("${requantise}", "plain_requantise.c.mako")


def formulas(form: AnyForm) -> float:
    """The part of the channels that are requantised by the formula itself."""
    return float(form.exact.mean()) if isinstance(form, DspForm) else 0.0


def plain_names(form: AnyForm, requant: Requant) -> dict[str, object]:
    """What C templates are given, as `DspForm.names`."""
    names = form.names(requant)
    return names if names["twice"] else {**names, "requantise": f"tw_plain_requantise_{form.label(requant)}"}


def plain_requantiser(values: Mapping[str, Any]) -> CodeFragments:
    """The function `requantise` of `plain_names`, and what it calls."""
    if values["twice"]:
        return requantiser(values)
    (shifted, shift), (rounded, clamp) = (
        narrowed(bits, values["low"], values["high"]) for bits in (values["shift"], 0)
    )
    used = (*([shift] if values["fixed"] else []), *([clamp] if values["exact"] else []))
    return (*used, _REQUANTISE.of(shifted=shifted, rounded=rounded))
