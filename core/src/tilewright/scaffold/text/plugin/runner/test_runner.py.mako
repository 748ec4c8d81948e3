"""Networks that the runner runs: every step is compared with its reference."""

import tilewright

from ${module} import Unoptimised


def test_it_is_ready():
    assert Unoptimised().available() is None


def test_every_step_is_right(network):
    judged = tilewright.compile(network, "generic", name="network").validate(on="${name}")
    assert judged.passed
    assert judged.runner == "${name}"
