"""Networks that the tiler has cut: the core checks every tile on its own, the run shows that values are right."""

import tilewright


def test_a_network_is_cut_and_right(network):
    compiled = tilewright.compile(network, "generic", name="network", tiler="${name}")
    assert compiled.validate(on="host").passed


def test_every_step_is_one_tile(network):
    compiled = tilewright.compile(network, "generic", name="network", tiler="${name}")
    assert {step["tiles"] for step in compiled.report.data["steps"]} == {1}
