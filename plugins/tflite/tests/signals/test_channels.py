"""Channels of a filter bank, their roots, gains and logarithms against what they are in whole numbers of any size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.api.testing import site_of
from tilewright_tflite.signals.channels import BANK, LOG, ROOT, SUBTRACTION, excess


def computed(operator: Any, inputs: list[Any], constants: tuple[int, ...] = (), **attributes: int) -> Any:
    return operator.reference(site_of(operator, inputs, attributes, constants), inputs)


def test_channels_overlap() -> None:
    """What is weighed by 3 in one channel is weighed by 1 in the next; what is below the first is only carried on."""
    x = np.array([10, 20, 30, 2**32 - 1], np.uint32)
    tables = [[1, 3, 3, 2], [3, 1, 1, 2], [0, 1, 2], [0, 1, 2], [1, 1, 2]]
    inputs = [x, *(np.array(table, np.int16) for table in tables)]
    (found,) = computed(BANK, inputs, (1, 2, 3, 4, 5))
    assert found.tolist() == [3 * 20 + 3 * 10, 3 * 30 + 2 * (2**32 - 1) + 20]


@given(st.integers(0, 2**64 - 1), st.integers(0, 14))
def test_roots_are_rounded(value: int, bits: int) -> None:
    (found,) = computed(ROOT, [np.array([value], np.uint64), np.array(bits, np.int32)])
    root = math.isqrt(4 * value) // 2 + math.isqrt(4 * value) % 2  # to the nearest
    most = 2**16 - 1 if value < 2**32 else 2**32 - 1
    assert found.tolist() == [min(root, most) >> bits]


@given(st.integers(2, 2**32 - 1))
def test_logarithms_are_near(value: int) -> None:
    (found,) = computed(LOG, [np.array([value], np.uint32)], bits=0, scale=1000)
    assert abs(int(found[0]) - 1000 * math.log(value)) < 3  # between 128ths it hardly interpolates


def test_logarithms_end_at_the_largest_number_and_begin_at_zero() -> None:
    (found,) = computed(LOG, [np.array([0, 1, 2**31], np.uint32)], bits=0, scale=1600)
    assert found.tolist() == [0, 0, 32767]
    assert excess()[0] == excess()[128] == 0 and max(excess()) == 5641  # 0.0861 * 2^16


@pytest.mark.parametrize("clamp", [0, 1])
def test_noise_is_taken_off_but_for_a_share(clamp: int) -> None:
    numbers = {
        "smoothing": 1 << 13, "rest": 1 << 13, "smoothing_odd": 0, "rest_odd": 1 << 14, "least": 1 << 12, "bits": 4,
        "scale_bits": 14, "clamp": clamp,
    }  # fmt: skip
    x, noise = np.array([100, 100], np.uint32), np.array([0, 90000], np.uint32)
    kept, following = computed(SUBTRACTION, [x, noise], **numbers)
    assert kept.tolist() == [50, 25]  # half is noise; all is, of which a quarter stays
    assert following.tolist() == [800, 1600 if clamp else 90000]
