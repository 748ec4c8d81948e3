"""Passes that are asked for change the machine only where one of them decides about memories."""

from __future__ import annotations

import pytest

from tilewright.errors import TilewrightError
from tilewright.testing.cluster import CLUSTER
from tilewright.transform.hooks import HOOKS
from tilewright.transform.passthrough import PASSTHROUGH
from tilewright.transform.requested_passes import platform_for


def test_memories_are_the_applications_where_they_pass_through() -> None:
    assert platform_for(CLUSTER, (HOOKS, PASSTHROUGH), {"hooks": {}}) is CLUSTER
    taken = platform_for(CLUSTER, (HOOKS, PASSTHROUGH), {"passthrough": {"memory": CLUSTER.memories[0].name}})
    assert taken.memories[0].managed_by == "application"


def test_a_pass_that_nobody_has_is_refused() -> None:
    with pytest.raises(TilewrightError, match="TW1111"):
        platform_for(CLUSTER, (HOOKS,), {"hook": {}})
