"""Knows all operators of signals and their portable kernels. Does not know what they compute."""

from __future__ import annotations

from tilewright_tflite.signals import channels, frames, spectra

OPERATORS = (*frames.OPERATORS, *spectra.OPERATORS, *channels.OPERATORS)
KERNELS = (*frames.KERNELS, *spectra.KERNELS, *channels.KERNELS)
