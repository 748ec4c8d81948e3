"""A registry for a made-up platform: the core's vocabulary and this platform, whatever else is installed."""

from __future__ import annotations

import pytest

from tilewright.config.options import Options
from tilewright.errors import TilewrightError
from tilewright.testing.cluster import CLUSTER, cluster
from tilewright.testing.one_step import vocabulary
from tilewright.testing.registry import registry_for


def test_it_has_the_platform_and_the_vocabulary() -> None:
    small = cluster(scratchpad_bytes=4096)
    registry = registry_for(small, tiler="min")
    assert registry.platforms == {CLUSTER.name: small}
    assert registry.operators.keys() >= vocabulary().keys()
    assert registry.exporters.keys() >= set(Options().emit)  # or the files of a compilation could not be had
    assert "portable.sigmoid" in registry.kernels and "min" in registry.tilers and "auto" in registry.allocators


def test_what_is_named_and_not_installed_is_an_error() -> None:
    with pytest.raises(TilewrightError, match="TW8001"):
        registry_for(CLUSTER, tiler="nobody")
