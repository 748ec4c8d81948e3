"""Knows what instructions of each class take on each core, in cycles: documented latencies, and waits for flash.
Does not know how instructions are counted, nor what any kernel executes.

Sources: Arm's technical reference manuals of M0+, M3 and M4 (instruction timings), M55's software optimisation guide.
Arm publishes no timings of M33 (M4's are taken), and none of M7 that a static model could use: that issues two at a
time, and 0.68 cycles each is the ratio of the published CoreMark figures of M7 and M4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Latencies:
    """Cycles of an instruction by its class (absent: `other`), and of what comes to it: `taken`, `paired` and so on, as
    counter.c names them. `wait_states` is what a line of 16 bytes of code out of flash takes beyond its instruction.
    """

    classes: Mapping[str, float] = field(default_factory=dict)
    extras: Mapping[str, float] = field(default_factory=dict)
    other: float = 1.0
    wait_states: int = 0

    def cycles(self, counts: Mapping[str, int]) -> float:
        """Of what a run has counted."""
        prefix = "instructions."
        total = 0.0
        for name, count in counts.items():
            if name.startswith(prefix):
                total += count * self.classes.get(name.removeprefix(prefix), self.other)
            else:
                total += count * self.extras.get(name, 0.0)
        return total + self.wait_states * counts.get("fetches", 0)


_M4 = Latencies(
    classes={
        "load": 2, "load_multiple": 2, "store_multiple": 2, "divide": 7, "float_divide": 14, "float_load": 2,
        "float_store": 2,
    },
    extras={"taken": 2, "paired": -1, "words": 1},
    wait_states=5,
)  # fmt: skip

LATENCIES: Mapping[str, Latencies] = {
    "m0plus": Latencies(
        classes={"load": 2, "store": 2, "load_multiple": 2, "store_multiple": 2}, extras={"taken": 1, "words": 1}
    ),
    "m3": Latencies(
        classes={"load": 2, "load_multiple": 2, "store_multiple": 2, "divide": 7, "long_multiply": 4},
        extras={"taken": 2, "paired": -1, "words": 1},
        wait_states=2,
    ),
    "m4": _M4,
    "m33": _M4,
    "m7": Latencies(classes={"divide": 7, "float_divide": 14}, extras={"taken": 0.5, "words": 0.5}, other=0.68),
    "m55": Latencies(
        classes={
            "loop": 0, "divide": 8, "float_divide": 14, "vector": 2, "vector_multiply": 2, "vector_load": 2,
            "vector_store": 2,
        },
        extras={"taken": 1, "words": 0.5, "overlapped": -1},
    ),
}  # fmt: skip
