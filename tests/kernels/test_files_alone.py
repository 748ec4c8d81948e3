"""C that does not change from use to use is C: every file compiles on its own, strictly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tilewright.testing.kernels.fragment_checks import c_files, compile_alone

PACKAGES = (
    "tilewright.operators",
    "tilewright_cortexm.kernels",
    "tilewright_siracusa.kernels",
    "tilewright_snitch.kernels",
)


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_compiles_alone(package: str, tmp_path: Path) -> None:
    found = c_files(package)
    assert len(found) > 2
    assert {path: said for path in found if (said := compile_alone(package, path, tmp_path))} == {}


@pytest.mark.parametrize("core", ["m4 -mfpu=fpv4-sp-d16", "m55"])
def test_the_form_of_the_core_compiles_alone(
    core: str, tmp_path: Path, tool: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", f"{tool('arm-none-eabi-gcc')} -mthumb -mfloat-abi=hard -mcpu=cortex-{core}")
    found = c_files("tilewright_cortexm.kernels")
    assert {path: said for path in found if (said := compile_alone("tilewright_cortexm.kernels", path, tmp_path))} == {}


def test_a_file_that_lacks_something_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme_alone").mkdir()
    (tmp_path / "acme_alone" / "__init__.py").touch()
    (tmp_path / "acme_alone" / "sum.c").write_text("static acme_pair none;\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert c_files("acme_alone") == ("sum.c",)
    assert "acme_pair" in compile_alone("acme_alone", "sum.c", tmp_path)
