"""Streaming networks that share a program: what each keeps is its own, everything else is shared."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tilewright.comparison.reference import run
from tilewright.config.memory_pools import parse_pool
from tilewright.config.options import Options
from tilewright.config.recurrent_state import run_stream
from tilewright.deployment import Deployment
from tilewright.multi_model.manifest import GroupFile, deployments, group_files, group_report, read_group, shared_pools
from tilewright.multi_model.shared_pools import SharedPool
from tilewright.snapshot.atomic_folder import write_folder

FLAGS = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror", "-ffp-contract=off")
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover")
MAIN = """
#include "app_pools.h"

#include <stdio.h>

static float x1[LEAKY_IN_X_ELEMENTS], y1[LEAKY_OUT_Y_ELEMENTS];
static float x2[WINDOW_IN_X_ELEMENTS], y2[WINDOW_OUT_Y_ELEMENTS];

int main(void)
{
    const app_pools pools = app_static_pools();
    const leaky_pools p1 = app_leaky_pools(&pools);
    const window_pools p2 = app_window_pools(&pools);
    const leaky_inputs i1 = {x1};
    const window_inputs i2 = {x2};
    const leaky_outputs o1 = {y1};
    const window_outputs o2 = {y2};
    leaky_ctx c1;
    window_ctx c2;

    if (leaky_init(&c1, &p1, app_leaky_state(&pools), NULL, NULL)
        || window_init(&c2, &p2, app_window_state(&pools), NULL, NULL)
        || leaky_reset_state(&c1) || window_reset_state(&c2)) {
        return 1;
    }
    while (fread(x1, sizeof x1, 1, stdin) == 1 && fread(x2, sizeof x2, 1, stdin) == 1) {
        if (leaky_run(&c1, &i1, &o1) || window_run(&c2, &i2, &o2)) {
            return 2;
        }
        if (fwrite(y1, sizeof y1, 1, stdout) != 1 || fwrite(y2, sizeof y2, 1, stdout) != 1) {
            return 3;
        }
    }
    return 0;
}
"""


@dataclass(frozen=True)
class App:
    """Two streaming networks, and the memory that they share."""

    group: GroupFile
    members: Mapping[str, Deployment]
    shared: Sequence[SharedPool]


@pytest.fixture(name="app")
def _app(streams: dict[str, Path], tmp_path: Path) -> App:
    file = tmp_path / "app.toml"
    file.write_text(
        f'''
target = "generic"

[models.leaky]
file = "{streams["leaky"]}"
state = ["h_next:h=1.5"]

[models.window]
file = "{streams["window"]}"
state = ["cache_next:cache"]
stage = {{ conv = "dtcm" }}
io = {{ x = "user" }}
''',
        encoding="utf-8",
    )
    group = read_group(file)
    pools = (parse_pool("dtcm:512,section=.dtcm.app"), parse_pool("ram:4K"))
    members = deployments(group, Options(pools=pools), tmp_path)
    return App(group=group, members=members, shared=shared_pools(group, members))


def test_what_lasts_has_bytes_of_its_own(app: App) -> None:
    (dtcm,) = app.shared
    assert set(dtcm.state) == {"leaky", "window"}
    assert set(dtcm.copies) == {"window"}
    assert len({*dtcm.state.values(), *dtcm.copies.values()}) == 3
    assert dtcm.size_bytes <= 512
    report = group_report(app.group, app.members, app.shared)
    assert report["pools"][0]["state"] == dict(dtcm.state)


def test_two_streams_in_turn(app: App, tmp_path: Path, tool: Callable[[str], str]) -> None:
    program = built(app, tmp_path, tool("gcc"))
    chance = np.random.default_rng(9)
    frames = {
        prefix: [{"x": chance.integers(-9, 9, one.inputs["x"].shape).astype(np.float32)} for _ in range(20)]
        for prefix, one in app.members.items()
    }
    fed = b"".join(one["x"].tobytes() + other["x"].tobytes() for one, other in zip(*frames.values(), strict=True))
    said = subprocess.run([program], input=fed, check=True, capture_output=True).stdout
    got = np.frombuffer(said, np.float32).reshape(20, -1)
    for prefix, columns in (("leaky", slice(0, 6)), ("window", slice(6, 21))):
        one = app.members[prefix]
        known = run_stream(
            frames[prefix], one.states, lambda values, one=one: run(one.graph, values, one.registry.operators)
        )[1]
        for row, expected in zip(got, known, strict=True):
            np.testing.assert_array_equal(row[columns], expected["y"].ravel())
    sections = subprocess.run([tool("readelf"), "-SW", program], check=True, capture_output=True, text=True).stdout
    assert ".dtcm.app" in sections


def built(app: App, folder: Path, compiler: str) -> str:
    """Both models and `MAIN` in one program."""
    write_folder(folder / "app", group_files(app.group, app.members, app.shared))
    (folder / "app" / "main.c").write_text(MAIN, encoding="ascii")
    sources = [str(path) for path in sorted((folder / "app").rglob("*.[cS]")) if "_simple" not in path.name]
    folders = [f"-I{folder / 'app'}", *(f"-I{folder / 'app' / prefix}" for prefix in app.group.models)]
    program = str(folder / "program")
    subprocess.run([compiler, *FLAGS, *SANITIZE, *folders, *sources, "-o", program, "-lm"], check=True)
    return program
