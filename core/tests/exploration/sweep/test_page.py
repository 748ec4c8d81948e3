"""The page: whole, loads nothing, and takes hostile names as text; in a browser it draws, filters and answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from core.tests.exploration.sweep.points_kit import refused, row
from tilewright.exploration.sweep.axes import axis
from tilewright.exploration.sweep.page import sweep_page
from tilewright.exploration.sweep.sweep import Sweep

CHOOSE = """(() => {
  const select = document.querySelector('select[data-axis=optimize]');
  select.value = 'ram';
  select.dispatchEvent(new Event('change'));
})()"""
MIDDLE_OF_PLOT = """(() => {
  const box = document.getElementById('plot').getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})()"""
HOSTILE = "</script><script>document.title='broken'</script>"


def made(count: int) -> Sweep:
    rows = [
        row(1000 + at, 5, 9000 - at, values={"optimize": ("speed", "ram")[at % 2]}, front=at == 0, flags=f"--n {at}")
        for at in range(count)
    ]
    return Sweep(axes=(axis("optimize", "speed,ram"),), rows=(*rows, refused(values={"optimize": "ram"}, front=False)))


def test_it_is_one_file_that_loads_nothing() -> None:
    text = sweep_page(Sweep(axes=(), rows=(row(model=HOSTILE, front=True),)))
    assert HOSTILE not in text and "\\u003c/script>" in text
    assert not re.search(r'(src|href)="', text)
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    assert data["rows"][0]["model"] == HOSTILE and data["measures"]["cycles"] == "estimated cycles"


@pytest.mark.slow
def test_it_draws_filters_and_answers(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "sweep.html").write_text(sweep_page(made(20_000)), encoding="utf-8")
    file = tmp_path / "sweep.html"
    browser.open(file)
    assert browser.complaints == [] and browser.requested == [file.as_uri()]
    text = "document.querySelector('%s').textContent"
    assert browser.value(text % "#count").startswith("20,000 points shown")
    assert browser.value("document.querySelectorAll('#rows tbody tr').length") == 200
    browser.value(CHOOSE)
    assert browser.value(text % "#count").startswith("10,000 points shown")
    browser.value("document.querySelector('#rows tbody tr').click()")
    assert "tilewright check net.onnx --n" in browser.value(text % "#point")
    x, y = browser.value(MIDDLE_OF_PLOT)
    browser.click(x, y)
    assert "cycles by estimate" in browser.value(text % "#point")
    assert len(browser.picture()) > 10_000
