"""Knows the joint problem as a CP-SAT model: choices, capacities, and places without overlap.
Does not know where the numbers come from.

Without places it is a relaxation: bytes are counted, not placed. Its optimum bounds the joint one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tilewright_cpsat.problem import Joint, JointChoice, Key, Rectangle

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """What the solver says. `choice` is None where it found none in its budget."""

    choice: JointChoice | None
    bound: int  # no choice is below
    proved: bool  # optimal, or that there is none
    offsets: Mapping[Key, int]


class JointModel:
    """Variables for every step and value; rectangles for everything when `placed`."""

    def __init__(self, joint: Joint, *, placed: bool) -> None:
        from ortools.sat.python import cp_model

        self.joint = joint
        self.model = cp_model.CpModel()
        self.steps = [
            [self.model.new_bool_var(f"s{step}o{number}") for number in range(len(options))]
            for step, options in enumerate(joint.options)
        ]
        self.stays = {
            (stay.name, memory): self.model.new_bool_var(f"{stay.name}@{memory}")
            for stay in joint.stays
            for memory in stay.sizes
        }
        self.starts: dict[Key, Any] = {}
        self._choose()
        self._agree()
        self._count()
        self._joined()
        if placed:
            for memory in joint.capacities:
                self._place(memory)

    def solve(self, quantity: str, hint: JointChoice | None, work: float, at_most_cycles: int | None = None) -> Solved:
        """Minimise `quantity` ("cycles" or "moved_bytes") within `work` units of deterministic time."""
        from ortools.sat.python import cp_model

        costs = {"cycles": self._sum("cycles"), "moved_bytes": self._sum("moved_bytes")}
        if at_most_cycles is not None:
            self.model.add(costs["cycles"] <= at_most_cycles)
        self.model.minimize(costs[quantity])
        self._hint(hint)
        solver = _solver(work)
        status = solver.solve(self.model)
        bound = round(solver.best_objective_bound)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Solved(choice=None, bound=bound, proved=status == cp_model.INFEASIBLE, offsets={})
        return Solved(
            choice=self._choice(solver),
            bound=bound,
            proved=status == cp_model.OPTIMAL,
            offsets=self._offsets(solver),
        )

    def _choose(self) -> None:
        for taken in self.steps:
            self.model.add_exactly_one(taken)
        for stay in self.joint.stays:
            here = [self.stays[stay.name, memory] for memory in stay.sizes]
            if stay.pinned:
                self.model.add(self.stays[stay.name, stay.pinned] == 1)
            self.model.add_at_most_one(here)

    def _agree(self) -> None:
        """An option is taken only where its values are as it says."""
        for step, options in enumerate(self.joint.options):
            for name, memory in self.stays:
                if name not in self.joint.touched[step]:
                    continue
                fitting = [
                    self.steps[step][number] for number, option in enumerate(options) if (name, memory) in option.stays
                ]
                self.model.add(sum(fitting) == self.stays[name, memory])

    def _count(self) -> None:
        """Bytes alive in a step are at most the capacity."""
        for memory, capacity in self.joint.capacities.items():
            grain = self.joint.grains[memory]
            for step, options in enumerate(self.joint.options):
                tiles = [(self.steps[step][at], option.bytes_in(memory)) for at, option in enumerate(options)]
                values = [
                    (self.stays[stay.name, memory], stay.sizes[memory])
                    for stay in self.joint.stays
                    if memory in stay.sizes and stay.first <= step <= stay.last
                ]
                terms = [literal * (size // grain) for literal, size in (*tiles, *values) if size]
                if terms:
                    self.model.add(sum(terms) <= capacity // grain)

    def _joined(self) -> None:
        """No chain of steps that are joined by what stays is longer than it may be."""
        longest, count = self.joint.longest, len(self.joint.options)
        if longest is None:
            return
        joined = [self.model.new_bool_var(f"joined{step}") for step in range(count - 1)]
        for stay in self.joint.stays:
            for memory in () if stay.pinned else stay.sizes:
                for step in range(stay.first, stay.last):
                    self.model.add_implication(self.stays[stay.name, memory], joined[step])
        for step in range(count - longest):
            self.model.add(sum(joined[step : step + longest]) <= longest - 1)

    def _place(self, memory: str) -> None:
        """Every buffer of every step and every value that stays is a rectangle: steps by bytes."""
        boxes = [*self._value_boxes(memory)]
        for step, options in enumerate(self.joint.options):
            boxes.extend(self._tile_boxes(memory, step, options))
        times, bytes_of = zip(*boxes, strict=True) if boxes else ((), ())
        self.model.add_no_overlap_2d(times, bytes_of)

    def _value_boxes(self, memory: str) -> list[tuple[Any, Any]]:
        boxes = []
        for stay in self.joint.stays:
            if memory in stay.sizes:
                literal = self.stays[stay.name, memory]
                size = stay.sizes[memory] // self.joint.grains[memory]
                life = stay.first, stay.last - stay.first + 1
                boxes.append(self._box(memory, stay.name, life, size, literal))
        return boxes

    def _tile_boxes(self, memory: str, step: int, options: tuple[Any, ...]) -> list[tuple[Any, Any]]:
        grain = self.joint.grains[memory]
        sizes = [option.sizes.get(memory, ()) for option in options]
        boxes = []
        for place in range(max(map(len, sizes), default=0)):
            here = {
                number: parts[place] // grain
                for number, parts in enumerate(sizes)
                if place < len(parts) and parts[place]
            }
            present = self.model.new_bool_var(f"b{step}.{place}@{memory}")
            self.model.add(sum(self.steps[step][number] for number in here) == present)
            size = self.model.new_int_var(0, max(here.values(), default=0), f"z{step}.{place}@{memory}")
            self.model.add(size == sum(self.steps[step][number] * bytes_here for number, bytes_here in here.items()))
            boxes.append(self._box(memory, (step, place), (step, 1), size, present))
        return boxes

    def _box(
        self, memory: str, buffer: str | tuple[int, int], life: tuple[int, int], size: Any, present: Any
    ) -> tuple[Any, Any]:
        capacity = self.joint.capacities[memory] // self.joint.grains[memory]
        start = self.model.new_int_var(0, max(capacity, 0), f"at{buffer}@{memory}")
        end = self.model.new_int_var(0, max(capacity, 0), f"end{buffer}@{memory}")
        self.starts[memory, buffer] = start
        bytes_of = self.model.new_optional_interval_var(start, size, end, present, f"y{buffer}@{memory}")
        first, length = life
        time = self.model.new_optional_fixed_size_interval_var(first, length, present, f"x{buffer}@{memory}")
        return time, bytes_of

    def _sum(self, quantity: str) -> Any:
        return sum(
            literal * getattr(option, quantity)
            for taken, options in zip(self.steps, self.joint.options, strict=True)
            for literal, option in zip(taken, options, strict=True)
        )

    def _hint(self, hint: JointChoice | None) -> None:
        self.model.clear_hints()  # type: ignore[no-untyped-call]  # has no types in ortools
        if hint is None:
            return
        for taken, chosen in zip(self.steps, hint.options, strict=True):
            for number, literal in enumerate(taken):
                self.model.add_hint(literal, int(number == chosen))  # ortools 9.10 takes no boolean
        for (name, memory), literal in self.stays.items():
            self.model.add_hint(literal, int(hint.stays.get(name) == memory))

    def _choice(self, solver: cp_model.CpSolver) -> JointChoice:
        options = tuple(next(at for at, literal in enumerate(taken) if solver.value(literal)) for taken in self.steps)
        stays = {name: memory for (name, memory), literal in self.stays.items() if solver.value(literal)}
        return JointChoice(options=options, stays=stays)

    def _offsets(self, solver: cp_model.CpSolver) -> dict[Key, int]:
        return {key: solver.value(start) * self.joint.grains[key[0]] for key, start in self.starts.items()}


def placed(joint: Joint, boxes: tuple[Rectangle, ...], work: float) -> dict[Key, int] | None:
    """Places for rectangles whose sizes are settled; None where there are none, or none were found."""
    from ortools.sat.python import cp_model

    result: dict[Key, int] = {}
    for memory, capacity in joint.capacities.items():
        grain, model = joint.grains[memory], cp_model.CpModel()
        starts, times, places = [], [], []
        here = [box for box in boxes if box.memory == memory]
        for number, box in enumerate(here):
            size = box.size_bytes // grain
            if size > capacity // grain:
                return None
            start = model.new_int_var(0, capacity // grain - size, f"at{number}")
            starts.append(start)
            places.append(model.new_fixed_size_interval_var(start, size, f"y{number}"))
            times.append(model.new_fixed_size_interval_var(box.first, box.last - box.first + 1, f"x{number}"))
        model.add_no_overlap_2d(times, places)
        solver = _solver(work)
        if here and solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        result |= {(memory, box.buffer): solver.value(start) * grain for box, start in zip(here, starts, strict=True)}
    return result


def _solver(work: float) -> cp_model.CpSolver:
    """Deterministic: one worker, a fixed seed, and work instead of seconds."""
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = work
    return solver
