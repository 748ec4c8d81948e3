"""The operator of nodes on values in forms computes what that without computes, and knows where padding is open."""

from __future__ import annotations

import numpy as np
import pytest
from form_kernels import GROUPS

from tilewright.ir.graphs.evaluation import allowed, results
from tilewright.ir.graphs.stored_sites import logical_site, open_padding, stored_operands, stored_operator
from tilewright.ir.plans.stored_kernel import stored_site
from tilewright.ir.tensors.stored_form import Stored, StoredValue
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of

SIGMOID = vocabulary()["Sigmoid"]
IMAGE = np.random.default_rng(2).standard_normal((1, 20, 3, 5)).astype(np.float32)
FILLED = StoredValue(stored=Stored(form=GROUPS, fill=2.0), shape=IMAGE.shape)
OPEN = StoredValue(stored=Stored(form=GROUPS), shape=IMAGE.shape)


@pytest.mark.parametrize(("into", "anything"), [(FILLED, 0), (OPEN, 12 * 15)])
def test_it_computes_elements_and_says_what_padding_is(into: StoredValue, anything: int) -> None:
    plain = site_of(SIGMOID, [IMAGE])
    site = stored_site(plain, SIGMOID, {"X": OPEN, "Y": into})
    operator = stored_operator(SIGMOID)
    assert (operator.name, site.node.op, site.output.shape) == ("Sigmoid@stored", "Sigmoid@stored", (1, 2, 3, 5, 16))
    assert stored_operands(site.node) == {"X": OPEN, "Y": into}
    assert logical_site(site, SIGMOID) == plain
    given = OPEN.put(IMAGE, 77.0)
    assert operator.infer(site) == site.outputs
    assert operator.macs(site) == SIGMOID.macs(plain)
    (found,), (expected,) = results(operator, site, [given]), results(SIGMOID, plain, [IMAGE])
    np.testing.assert_array_equal(into.take(found), expected)
    assert into.stored.fill is None or (found[into.padding(4)] == into.stored.fill).all()
    (limit,), (wanted,) = allowed(operator, site, [given]), allowed(SIGMOID, plain, [IMAGE])
    assert limit is not None
    assert wanted is not None
    np.testing.assert_array_equal(into.take(limit), np.broadcast_to(wanted, IMAGE.shape))
    assert not limit[into.padding(4)].any()
    assert sum(int(mask.sum()) for mask in open_padding(site.node, operator, site.outputs).values()) == anything


def test_only_kernels_know_what_is_read() -> None:
    site = stored_site(site_of(SIGMOID, [IMAGE]), SIGMOID, {"X": OPEN})
    with pytest.raises(ValueError, match="it says `access`"):
        stored_operator(SIGMOID).access(site)
