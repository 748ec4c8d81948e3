"""Maps of signals' operators, and nodes of their own domain."""

from __future__ import annotations

import numpy as np

from tilewright.api.testing import site_of
from tilewright_tflite.signals.frames import WINDOW
from tilewright_tflite.signals.parts import DOMAIN
from tilewright_tflite.signals.spectra import RFFT
from tilewright_tflite.signals.transforms import complex_twiddles, real_twiddles


def test_elements_may_be_computed_in_parts_and_spectra_not() -> None:
    x, w = np.zeros((2, 8), np.int16), np.zeros(8, np.int16)
    assert str(WINDOW.access(site_of(WINDOW, [x, w], {"shift": 1}, (1,)))).count("i1") > 2
    inputs = [np.zeros(16, np.int16), complex_twiddles(8), real_twiddles(8)]
    site = site_of(RFFT, inputs, {}, (1, 2))
    assert not RFFT.access(site).loops and site.output.shape == (18,)


def test_nodes_are_of_a_domain_of_their_own() -> None:
    (signature,) = WINDOW.imports
    assert (signature.domain, signature.op_type, signature.attributes) == (DOMAIN, "Window", {"shift": "INT"})
