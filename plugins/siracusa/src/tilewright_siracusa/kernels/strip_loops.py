"""Knows in which order a core computes windows below each other: no instruction waits for the one before it, and two
cores that share a floating-point unit can take turns. Does not know who calls it.
"""

from __future__ import annotations

from dataclasses import dataclass

LATENCY = 3  # instructions until a float is there
REGISTERS = 18  # for weights, rows of a strip, and sums
FLOATS = ("ft0", "ft1", "ft2", "ft3")  # of windows, one after the other


@dataclass(frozen=True, slots=True, kw_only=True)
class StripLoop:
    """`pixels` neighbouring windows, `below` rows of them, of so many `rows` of taps, `stride` apart."""

    rows: int
    stride: int
    pixels: int
    below: int

    @property
    def reads(self) -> list[int]:
        """Rows of a strip that are read."""
        return sorted({self.stride * output + row for output in range(self.below) for row in range(self.rows)})

    @property
    def outputs(self) -> list[str]:
        """Windows, as they are stored: rows, and pixels of a row."""
        return [f"{output}{pixel}" for output in range(self.below) for pixel in range(self.pixels)]

    @property
    def registers(self) -> int:
        """Of integers that are held at once."""
        return len(self.reads) + self.pixels * self.rows + len(self.outputs)


@dataclass(frozen=True, slots=True)
class _Step:
    text: str
    gives: str
    needs: tuple[str, ...]
    floats: bool = False


def strip_loop(rows: int, stride: int, pixels: int) -> StripLoop:
    """The loop over as many rows of windows as fit in registers."""
    loop = StripLoop(rows=rows, stride=stride, pixels=pixels, below=4 // pixels)
    return loop if loop.registers <= REGISTERS else StripLoop(rows=rows, stride=stride, pixels=pixels, below=2)


def scheduled(loop: StripLoop, instruction: str, clip: str) -> list[str]:
    """The body of the loop as macros of xpulp.h: integer and float instructions by turns."""
    steps, order, ready = _steps(loop, instruction, clip), list[str](), dict[str, int]()
    floats_next = False
    while steps:
        now = len(order)
        able = [step for step in steps if all(ready.get(need, now + 1) <= now for need in step.needs)]
        wanted = [step for step in able if step.floats == floats_next] or able or steps
        step = wanted[0]
        steps.remove(step)
        ready[step.gives] = now + (LATENCY if step.floats else 1)
        order.append(step.text)
        floats_next = not step.floats
    return order


def _steps(loop: StripLoop, instruction: str, clip: str) -> list[_Step]:
    first, *others = loop.reads
    loads = [_Step(f'"lw %[x{row}], {32 * row}(%[x])\\n\\t"', f"x{row}", ()) for row in others]
    move = 32 * loop.stride * loop.below
    loads.append(_Step(f"TW_XP_LW(%[x{first}], %[x], {move})", f"x{first}", tuple(f"x{row}" for row in others)))
    steps, before = loads, "x"
    for number, name in enumerate(loop.outputs):
        output, pixel = divmod(number, loop.pixels)
        value = FLOATS[number % len(FLOATS)]
        steps.append(_Step(f"TW_XP_MV(%[s{name}], %[bias])", f"m{name}", ()))
        last = f"m{name}"
        for row in range(loop.rows):
            read = loop.stride * output + row
            text = f"TW_XP_{instruction}(%[s{name}], %[x{read}], %[w{pixel}{row}])"
            steps.append(_Step(text, f"{last}+", (last, f"x{read}")))
            last += "+"
        along = "beside" if pixel + 1 < loop.pixels else "next"
        steps += [
            _Step(f'"fcvt.s.w {value}, %[s{name}]\\n\\t"', f"f{name}", (last,), floats=True),
            _Step(f'"fmul.s {value}, {value}, %[scale]\\n\\t"', f"v{name}", (f"f{name}",), floats=True),
            _Step(f'"fcvt.w.s %[s{name}], {value}, rne\\n\\t"', f"n{name}", (f"v{name}",), floats=True),
            _Step(f"TW_XP_ADD(%[s{name}], %[s{name}], %[zero])", f"a{name}", (f"n{name}",)),
            _Step(f"TW_XP_CLIP_{clip.upper()}(%[s{name}], %[s{name}])", f"c{name}", (f"a{name}",)),
            _Step(
                f"TW_XP_SB_BY(%[s{name}], %[at], %[{along}])", f"y{name}", (f"c{name}", *((before,) if number else ()))
            ),
        ]
        before = f"y{name}"
    return steps
