"""What parts cost, from a file of the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.errors import TilewrightError
from tilewright.exploration.costs import read_costs


def test_names_and_amounts_with_or_without_a_head(tmp_path: Path) -> None:
    file = tmp_path / "costs.csv"
    file.write_text("part,price\nSTM32F446RE,3.20\n\nnucleo_f446re, 14\nfree,0,gift\n", encoding="utf-8")
    assert read_costs(file) == {"stm32f446re": 3.2, "nucleo-f446re": 14.0, "free": 0.0}


@pytest.mark.parametrize("text", ["a,1\nb\n", "a,1\nb,-1\n", "a,1\nb,many\n", "a,1\nb,inf\n"])
def test_a_line_without_an_amount_is_refused_with_its_number(text: str, tmp_path: Path) -> None:
    file = tmp_path / "costs.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(TilewrightError, match="line 2 has no name and amount") as refused:
        read_costs(file)
    assert (refused.value.code, refused.value.where) == ("TW1411", f"{file}, line 2")


def test_what_is_no_text_or_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\xff")
    for name, reason in (("bytes", "no UTF-8"), ("nowhere", "No such file")):
        with pytest.raises(TilewrightError, match=reason) as refused:
            read_costs(tmp_path / name)
        assert refused.value.code == "TW1411"
