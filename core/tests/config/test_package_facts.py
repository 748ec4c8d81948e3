"""What `--package` takes, and what no package can be called."""

from __future__ import annotations

import pytest

from tilewright.config.package_facts import package_facts
from tilewright.errors import TilewrightError
from tilewright.ir.plans.stages import PackageFacts


def test_keys_and_values() -> None:
    assert package_facts("") == PackageFacts()
    assert package_facts("name=kws, version=1.4.0,license=MIT OR Apache-2.0") == PackageFacts(
        name="kws", version="1.4.0", licence="MIT OR Apache-2.0"
    )


@pytest.mark.parametrize("text", ["kws", "name", "name=", "name=1x", "version=1.4", "version=01.0.0", "author=me", ","])
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(TilewrightError) as refused:
        package_facts(text)
    assert refused.value.code == "TW1430"
    assert refused.value.fix
