"""Draws the figures of docs/design from plans that tilewright makes of small networks, and their texts beside them.
Usage: python tools/draw_figures.py [FOLDER]; the folder is `docs` unless given. Needs a C compiler for the twin.

Every figure has the same facts as a text, which stands in its page below `<!-- NAME.svg as text -->`. A test compares
pictures and pages with what is committed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from svg import Picture, fits

from tilewright.api.deployment import Deployment, Options
from tilewright.api.graph import Attribute, DType
from tilewright.api.runner import Job, TimeSpan
from tilewright.api.stages import Buffer
from tilewright.api.testing import SideBySide, Sketch, cluster, vocabulary
from tilewright.plugins import Registry, load_for
from tilewright.runners.twin import TwinRunner

ROOT = Path(__file__).resolve().parent.parent
WIDTH, LEFT, RIGHT = 780, 96, 14
NEAR = "l1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A picture, the page that shows it, and what stands there for who cannot see it."""

    name: str
    page: str  # below docs/design
    picture: Picture
    text: str


def figures() -> tuple[Figure, ...]:
    """All of them."""
    return tiled_loop(), rolling_window(), memory_over_time()


# The networks


def made_up(scratchpad_bytes: int) -> Registry:
    """The made-up cluster of the tests with a scratchpad of that size, and nothing else to compile for."""
    platform = cluster(scratchpad_bytes)
    return replace(load_for(target="generic"), platforms={platform.name: platform})


def convolution(kernel: tuple[int, int], channels: int, extents: tuple[int, int]) -> SideBySide:
    """A network of one convolution on floats that keeps its image's size."""
    sketch = Sketch(operators=vocabulary())
    image = sketch.input("image", DType.F32, (1, channels, *extents))
    weights = sketch.constant(np.ones((channels, channels, *kernel), np.float32))
    high, wide = (extent // 2 for extent in kernel)
    attributes: dict[str, Attribute] = {
        "kernel_shape": kernel,
        "strides": (1, 1),
        "dilations": (1, 1),
        "pads": (high, wide, high, wide),
        "group": 1,
    }
    output = sketch.node("Conv", (image, weights), attributes, name="conv")
    graph = sketch.finish(output)
    return SideBySide(graph=graph, feeds={image: np.ones(graph.tensors[image].shape, np.float32)})


# A tiled loop


def tiled_loop() -> Figure:
    """Copies and computation of one step over time, as the twin saw them."""
    network = convolution((1, 3), channels=8, extents=(16, 32))
    plan = network.deployment("cluster-test", Options(name="loop"), made_up(20 << 10))
    spans = timeline(network, plan)
    picture = Picture(width=WIDTH, height=178, title="A convolution in tiles: copies in, computation and copies out")
    last = max(span.end for span in spans)
    scale = (WIDTH - LEFT - RIGHT) / last
    for cycle in range(0, last, 1000):
        x = LEFT + cycle * scale
        picture.line(x, 40, x, 142, "dashed")
        picture.text(x, 156, f"{cycle:,}", "middle")
    picture.text(WIDTH - RIGHT, 172, "cycles", "end")
    for row, (fill, kind) in enumerate(ROWS):
        picture.text(8, 62 + 34 * row, kind)
        for number, span in enumerate(lane(spans, fill)):
            begin, width = LEFT + span.begin * scale, (span.end - span.begin) * scale
            picture.box(begin, 45 + 34 * row, width, 26, fill, label_of(span, number))
    picture.legend(LEFT, 22, [("in", "copied in"), ("cores", "computed by all cores"), ("out", "copied out")])
    return Figure(name="tiled-loop", page="tiling.md", picture=picture, text="\n".join(loop_lines(spans)))


ROWS = (("in", "copies in"), ("cores", "cores"), ("out", "copies out"))


def timeline(network: SideBySide, plan: Deployment) -> Sequence[TimeSpan]:
    """What the copy engine and the cores did in one run on the twin."""
    job = Job(
        artifact=plan.artifact,
        plan=plan.allocated,
        prefix=plan.prefix,
        input_sets=(network.feeds,),
        timeline=True,
    )
    with TemporaryDirectory() as folder:
        result = TwinRunner().run(job, Path(folder)).timeline
    if result is None:
        raise SystemExit("the twin has no timeline")
    return [span for span in result.spans if span.track != "steps"]


def lane(spans: Sequence[TimeSpan], fill: str) -> list[TimeSpan]:
    """The computation of every tile, or the copies into the scratchpad, or those out of it; in order."""
    return [span for span in spans if fill_of(span) == fill]


def fill_of(span: TimeSpan) -> str:
    """What a span is."""
    if span.track == "cores":
        return "cores"
    return "in" if span.name.endswith(f"-> {NEAR}") else "out"


def is_weights(span: TimeSpan) -> bool:
    """Whether a copy brings constants."""
    return span.name.startswith("flash")


def label_of(span: TimeSpan, number: int) -> str:
    """The number of the tile; the weights come second, behind the first tile."""
    if is_weights(span):
        return "W"
    number -= fill_of(span) == "in" and number > 0
    return f"tile {number}" if fill_of(span) == "cores" else str(number)


def loop_lines(spans: Sequence[TimeSpan]) -> Iterator[str]:
    """The same as a table."""
    inputs = [span for span in lane(spans, "in") if not is_weights(span)]
    yield f"{'tile':<9}{'copied in':<18}{'computed':<18}copied out"
    for number, both in enumerate(zip(inputs, lane(spans, "cores"), lane(spans, "out"), strict=True)):
        yield f"{number:<9}" + "".join(f"{f'{span.begin:,} to {span.end:,}':<18}" for span in both).rstrip()
    yield from (f"{'weights':<9}{span.begin:,} to {span.end:,}" for span in lane(spans, "in") if is_weights(span))


# A rolling window

SHOWN_TILES, SHOWN_ROWS, ROW_HEIGHT = 3, 8, 22


def rolling_window() -> Figure:
    """Which rows of an image the first tiles of a convolution find, bring and compute."""
    network = convolution((3, 3), channels=4, extents=(32, 32))
    plan = network.deployment("cluster-test", Options(), made_up(4 << 10))
    windows = row_windows(plan)
    room = max(high - low for low, high in windows)
    above, column = 78, (WIDTH - 30) // SHOWN_TILES
    picture = Picture(
        width=WIDTH,
        height=above + SHOWN_ROWS * ROW_HEIGHT + 24,
        title="The rows of an image in the scratchpad during the first three tiles of a convolution",
    )
    picture.legend(30, 22, [("in", "copied in now"), ("kept", "kept from the tile before"), ("none", "not there")])
    for tile, ((low, high), before) in enumerate(zip(windows, [(0, 0), *windows], strict=False)):
        left = 30 + tile * column
        picture.text(left, 50, f"tile {tile}")
        picture.text(left, 68, "image")
        picture.text(left + 132, 68, "buffer")
        for row in range(SHOWN_ROWS):
            fill = state_of(row, (low, high), before)
            picture.box(left, above + row * ROW_HEIGHT, 96, ROW_HEIGHT - 2, fill, f"row {row}")
        for place, row in enumerate(range(low, high)):
            fill = state_of(row, (low, high), before)
            picture.box(left + 132, above + place * ROW_HEIGHT, 84, ROW_HEIGHT - 2, fill, f"row {row}")
        picture.frame(left + 129, above - 3, 90, room * ROW_HEIGHT + 4)
    text = "\n".join(window_lines(windows))
    return Figure(name="rolling-window", page="tiling.md", picture=picture, text=text)


def row_windows(plan: Deployment) -> list[tuple[int, int]]:
    """For each of the first tiles, the rows of the image that it reads: the first one, and the one behind the last."""
    (group,) = plan.tiled.groups
    (hop,) = group.region.hops
    ((_, size),) = hop.nest
    if hop.copies["conv.X"].window != "rolling":
        raise SystemExit("the window of the convolution does not roll")
    access = plan.scheduled.bound.layers["conv"].access
    whole = {loop.name: (0, loop.extent) for loop in access.loops}
    boxes = ({**whole, "h": (tile * size, (tile + 1) * size)} for tile in range(SHOWN_TILES))
    rows = (access.window("X", box)[2] for box in boxes)
    return [(row.low, row.high) for row in rows]


def state_of(row: int, now: tuple[int, int], before: tuple[int, int]) -> str:
    """How a row of the image comes to be in the scratchpad for a tile; `before` is what the tile before read."""
    if not now[0] <= row < now[1]:
        return "none"
    return "kept" if before[0] <= row < before[1] else "in"


def window_lines(windows: Sequence[tuple[int, int]]) -> Iterator[str]:
    """The same as a table."""
    yield f"{'tile':<6}{'reads rows':<13}{'copied in':<12}kept, moved to the buffer's start"
    low, high = windows[0]
    yield f"{0:<6}{f'{low} to {high - 1}':<13}{f'{low} to {high - 1}':<12}none"
    for tile, (before, now) in enumerate(pairwise(windows), 1):
        kept = f"{now[0]} to {before[1] - 1}"
        yield f"{tile:<6}{f'{now[0]} to {now[1] - 1}':<13}{f'{before[1]} to {now[1] - 1}':<12}{kept}"


# A memory over time

DIGITS, HEIGHT, ABOVE = ROOT / "examples" / "digits" / "digits_int8.onnx", 330, 46


def memory_over_time() -> Figure:
    """Every buffer of the scratchpad as a box: from its first step to its last, from its first byte to its last."""
    plan = Deployment(DIGITS, "cluster-test", Options(), made_up(1280))
    steps = plan.scheduled.steps
    limit = plan.platform.plan_bytes(NEAR)
    if limit is None:
        raise SystemExit(f"{NEAR} has no limit")
    step, scale = (WIDTH - LEFT - RIGHT) / len(steps), HEIGHT / limit
    picture = Picture(width=WIDTH, height=ABOVE + HEIGHT + 42, title="The scratchpad during the steps of a network")
    for low, buffer in placed(plan):
        x, y = LEFT + buffer.first * step, ABOVE + HEIGHT - (low + buffer.size_bytes) * scale
        width, height = (buffer.last - buffer.first + 1) * step - 2, max(buffer.size_bytes * scale - 1, 1)
        fill = "in" if buffer.kind == "tile" else "cores"
        picture.box(x + 1, y, width, height, fill, label_in(buffer, width, height))
    picture.frame(LEFT, ABOVE, step * len(steps), HEIGHT)
    for size in range(0, limit + 1, 256):
        picture.text(LEFT - 8, ABOVE + HEIGHT - size * scale + 4, f"{size:,} B", "end")
    for number, one in enumerate(steps):
        x = LEFT + (number + 0.5) * step
        picture.text(x, ABOVE + HEIGHT + 16, str(number), "middle")
        picture.text(x, ABOVE + HEIGHT + 32, one.name.split("_")[0], "middle")
    picture.text(8, ABOVE + HEIGHT + 16, "step")
    picture.legend(LEFT, 24, [("cores", "values that stay between steps"), ("in", "tiles of one step")])
    return Figure(name="memory-over-time", page="memory.md", picture=picture, text="\n".join(memory_lines(plan)))


def placed(plan: Deployment) -> list[tuple[int, Buffer]]:
    """The buffers of the scratchpad and their first bytes, in the order of the steps."""
    places = plan.allocated.placements
    here = [buffer for buffer in plan.tiled.buffers if buffer.name in places and places[buffer.name].memory == NEAR]
    result = [(places[buffer.name].offset_bytes, buffer) for buffer in here]
    return sorted(result, key=lambda placed_buffer: (placed_buffer[1].first, placed_buffer[0]))


def label_in(buffer: Buffer, width: float, height: float) -> str:
    """A name that fits into a box: whole, without its memory, or up to its first `_`."""
    names = (buffer.name, buffer.name.split("@")[0], buffer.name.split("_")[0])
    return next((name for name in names if fits(name, width, height)), "")


def memory_lines(plan: Deployment) -> Iterator[str]:
    """The same as a table."""
    yield f"{'buffer':<32}{'kind':<12}{'steps':<9}bytes"
    for low, buffer in placed(plan):
        steps = str(buffer.first) if buffer.first == buffer.last else f"{buffer.first} to {buffer.last}"
        yield f"{buffer.name:<32}{buffer.kind:<12}{steps:<9}{low} to {low + buffer.size_bytes - 1}"


# Writing


def with_text(page: str, figure: Figure) -> str:
    """A page with the text of a figure in the block that is kept for it."""
    mark = f"<!-- {figure.name}.svg as text -->\n"
    block = re.compile(re.escape(mark) + r"```text\n.*?^```$", re.MULTILINE | re.DOTALL)
    changed, count = block.subn(lambda _: f"{mark}```text\n{figure.text}\n```", page)
    if count != 1:
        raise SystemExit(f"{figure.page} has no place for the text of {figure.name}.svg")
    return changed


def main(folder: Path) -> None:
    """Write all pictures, and their texts into the pages."""
    for figure in figures():
        (folder / "images" / f"{figure.name}.svg").write_text(figure.picture.svg(), encoding="utf-8")
        page = folder / "design" / figure.page
        page.write_text(with_text(page.read_text(encoding="utf-8"), figure), encoding="utf-8")


if __name__ == "__main__":
    from folder_argument import folder_asked

    main(folder_asked(__doc__, ROOT / "docs"))
