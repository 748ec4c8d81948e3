"""How a sweep goes: what is known is read, what stands twice is worked out once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from core.tests.exploration.sweep.points_kit import point
from tilewright.exploration.executors import Work
from tilewright.exploration.sweep.cache import Cache
from tilewright.exploration.sweep.flow import rows


class Counting:
    """An executor that is asked for few."""

    def __init__(self) -> None:
        self.tasks: list[str] = []

    def results(self, work: Work, tasks: Mapping[int, str]) -> Iterator[tuple[int, str]]:
        assert tasks, "asked for nothing"
        for number, task in reversed(tasks.items()):
            self.tasks.append(task)
            yield number, json.dumps({"code": "", "groups": json.loads(task)["flags"].get("groups")})


def test_each_is_worked_out_once_and_then_known(tmp_path: Path) -> None:
    net = tmp_path / "net.onnx"
    net.write_bytes(b"net")
    points = [point(net, groups=1), point(net, groups=2), point(net, groups=1)]
    cache, executor = Cache(folder=tmp_path / "cache", versions={}), Counting()
    found = dict(rows(points, executor, cache))
    assert {number: row["groups"] for number, row in found.items()} == {0: 1, 1: 2, 2: 1}
    assert len(executor.tasks) == 2
    assert found[1]["values"] == {"target": "plain", "groups": 2} and found[1]["model"] == str(net)
    assert dict(rows(points, executor, cache)) == found and len(executor.tasks) == 2
    assert len(list(rows(points, executor, None))) == 3 and len(executor.tasks) == 4
