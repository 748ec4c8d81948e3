"""Knows what a target is made of: memories, engines, and copies between memories; and which memories its cores read
themselves. Does not know any target, nor what is placed anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from tilewright.errors import TilewrightError, typed, usage_error
from tilewright.errors.suggestions import did_you_mean, nearest
from tilewright.ir.codec import DERIVED
from tilewright.ir.plugin_contract import demand_type

if TYPE_CHECKING:
    from tilewright.ir.graphs.arithmetic import Arithmetic
    from tilewright.ir.graphs.graph import Site
    from tilewright.ir.machines.instruction_costs import InstructionCosts
    from tilewright.ir.machines.kernel import Kernel, TileShape


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory, or the part of one that the program may use. `size_bytes` is a hard limit unless the memory is `soft`;
    None is no limit."""

    name: str  # a C identifier
    size_bytes: int | None
    kind: Literal["ram", "const"] = "ram"
    align: int = 16  # of the pool's base; no buffer needs more
    base: int | None = None  # address, where the linker does not choose it
    section: str = ""  # linker section; "" takes `.bss.tw.NAME` or `.rodata.tw.NAME`
    managed_by: Literal["tilewright", "application"] = "tilewright"
    access: Mapping[str, Literal["rw", "ro", "none"]] = field(
        default_factory=dict
    )  # engine -> access; absent: rw, or ro for const
    bytes_per_cycle: float = 4.0
    latency_cycles: float = 0.0
    machine_bytes: int | None = None  # what the machine has, where that is known: a larger limit is a warning
    soft: bool = False  # the limit may be exceeded where nothing else helps: a warning instead of an error
    bank_bytes: int = 0  # of each bank, a power of two, the first beginning where the memory does; 0: it has none

    def __post_init__(self) -> None:
        if self.bank_bytes < 0 or self.bank_bytes & (self.bank_bytes - 1):
            raise ValueError(f"memory '{self.name}': bank_bytes is {self.bank_bytes}, not a power of two")
        if self.bank_bytes and (self.kind == "const" or self.align % self.bank_bytes):
            wanted = "a memory of kind ram" if self.kind == "const" else f"align={self.bank_bytes}, a bank's beginning"
            raise ValueError(f"memory '{self.name}': banks of {self.bank_bytes} bytes need {wanted}")

    def access_by(self, engine: str) -> Literal["rw", "ro", "none"]:
        """What an engine may do with this memory."""
        return self.access.get(engine, "ro" if self.kind == "const" else "rw")

    def lets(self, engine: str, wanted: Literal["rw", "ro"]) -> bool:
        """Whether an engine may read the memory ("ro"), or read and write it ("rw")."""
        return self.access_by(engine) in ("rw", wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Something that runs kernels: a core, a cluster of cores, an accelerator.

    `code_cycles` is what a step takes once, beside `step_cycles`, because code of its kernel and of its transfers comes
    out of a slow memory. `portable_cycles` is what one core takes in portable C; where that is None, a part of a tile
    takes its part of `Platform.portable_cycles`. With `instructions`, an engine is a core whose cycles follow from what
    it executes: reports then show both.
    """

    name: str
    cores: int = 1
    operations_per_cycle: float = 0.5  # default cost model: multiply-accumulates per cycle, all cores together
    call_cycles: float = 0.0  # what every kernel call takes besides: barriers, arguments, loop set-up
    step_cycles: float = 0.0  # what every step takes besides, once: its code comes into caches, its loops begin
    code_cycles: Callable[[Kernel, int, int], float] | None = field(
        default=None, metadata=DERIVED
    )  # kernel, copied operands, tiles -> its step's code
    kept_code_cycles: Callable[[Kernel], float] | None = field(
        default=None, metadata=DERIVED
    )  # what a step takes less whose kernel one of `kept_steps` before it ran
    kept_steps: int = 0  # whose code is still in the cache
    portable_cycles: Callable[[str, TileShape], float | None] | None = field(
        default=None, metadata=DERIVED
    )  # operator, a core's part of a tile
    instructions: InstructionCosts | None = field(default=None, metadata=DERIVED)
    slowdown: float = 1.0  # what kernels take over what they say, as with stacks in a slow memory
    stack_cycles: float = 0.0  # instead of that, of kernels with `stack_reads`: each read of a stack in a slow memory
    code_waits: int = 0  # instructions come the way of copies: what so many first tiles of a step execute waits
    copy_start_cycles: float = 0.0  # of the core that starts one: others wait, unless it does so while they compute
    queue: int = 1  # jobs of asynchronous kernels that it takes; with 2, one may start before another is waited for
    finishing_cores: int = 1  # cores of the first engine, which finish its jobs (`Kernel.finish`)
    preferred: bool = False  # its kernels are asked first, whatever they cost
    dma_core: bool = False  # one more core starts copies and waits for them, and computes nothing; otherwise core 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyPath:
    """How bytes move from one memory to a neighbour.

    A program for several cores moves bytes through `tw_rt`. One for a single core that stages constants uses `start`
    and `wait`, Mako snippets over `dst, src, bytes, rows, dst_stride, src_stride, channel`; without them, memcpy.
    """

    source: str
    target: str
    start: str = ""
    wait: str = ""  # "" when `start` returns after the last byte has arrived
    max_bytes: int | None = None  # of one transfer
    align: int = 1  # bytes that addresses, lengths and strides are multiples of; lengths are padded
    dimensions: int = 1  # 2: rows with a stride; 3: and planes of rows, by `tw_rt_copy_3d`
    channels: int = 1  # transfers in flight
    queues: int = 1  # of these, the transfers that move at the same time; the others wait for their turn
    cycles: Callable[[int, int], float] = lambda size_bytes, rows: 50.0 * rows + size_bytes / 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One setting of a platform, `--set NAME=VALUE`."""

    name: str
    help: str
    default: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """A target: what `--target NAME` selects. The first memory of each kind, and the first engine, are the defaults."""

    name: str
    summary: str = ""
    memories: tuple[Memory, ...]  # in order of preference; far to near along `copies`
    engines: tuple[Engine, ...] = (Engine(name="cpu"),)
    copies: tuple[CopyPath, ...] = ()
    backing: str = ""  # backing memory, where values live; "" is the first ram memory
    inner: str = ""  # scratchpad, where kernels compute after copies; "" on a machine with one memory
    runtime_bytes: Mapping[str, int] = field(default_factory=dict)  # memory -> what the runtime takes: stacks, areas
    buffer_align: int = 4  # of every buffer's address
    runners: tuple[str, ...] = ("host",)  # runners that can execute what is generated, best first
    compile_flags: tuple[str, ...] = ()
    family: str = ""  # target whose kernels and packs this one uses beside its own: "cortex-m" for "cortex-m4"
    prelude: str = ""  # C at file scope before all kernels: macros that portable kernels may be given
    portable_cycles: Callable[[Site], float | None] | None = (
        None  # what a whole node takes in portable C, where that was measured; None: operations over throughput
    )
    constant_growth: Callable[[Platform, int], int] | None = (
        None  # bytes by which so many bytes of constants may grow for faster kernels; None: none
    )
    constant_growth_fix: str = ""  # what to type for other growth
    arithmetics: tuple[Arithmetic, ...] = ()  # what its units compute that nobody else does: `--arithmetic NAME`
    options: tuple[Option, ...] = ()
    configure_with: Callable[[Platform, Mapping[str, str]], Platform] | None = None
    settle: Callable[[Platform], Platform] | None = None  # what depends on memory sizes, once they are known
    settle_kernels: Callable[[Platform, frozenset[str]], Platform] | None = (
        None  # what depends on the kernels that run, by name, once they are bound
    )
    bound_kernels: frozenset[str] | None = field(default=None, metadata=DERIVED)  # that run, once they are bound
    rivals: Callable[[Platform], tuple[Mapping[str, str], ...]] | None = None  # settings to compare by their plans
    roomier: tuple[Mapping[str, str], ...] = ()  # settings to try where a model does not fit, best first
    settings: Mapping[str, str] = field(default_factory=dict)  # as configured; part of the report

    def __post_init__(self) -> None:
        if not self.of_kind("const"):
            rodata = Memory(name="rodata", size_bytes=None, kind="const")  # wherever the linker puts constants
            object.__setattr__(self, "memories", (*self.memories, rodata))

    def runs(self, target: str) -> bool:
        """Whether what is written for `target` ("*": for any) is meant for this platform too."""
        return target in ("*", self.name, self.family or self.name)

    def memory(self, name: str) -> Memory:
        """The memory of that name. KeyError when there is none."""
        for memory in self.memories:
            if memory.name == name:
                return memory
        raise KeyError(name)

    def of_kind(self, kind: Literal["ram", "const"]) -> tuple[Memory, ...]:
        """The memories of one kind, in order of preference."""
        return tuple(memory for memory in self.memories if memory.kind == kind)

    def plan_bytes(self, name: str) -> int | None:
        """What a memory has for the plan: its size less what the runtime takes. None: no limit."""
        size = self.memory(name).size_bytes
        return None if size is None else size - self.runtime_bytes.get(name, 0)

    def hard_bytes(self, name: str) -> int | None:
        """What no plan may exceed: `plan_bytes`, or None where the limit is soft."""
        return None if self.memory(name).soft else self.plan_bytes(name)

    def backing_memory(self) -> Memory:
        """Where values live unless something moves them."""
        return self.memory(self.backing) if self.backing else self.of_kind("ram")[0]

    def configure(self, settings: Mapping[str, str]) -> Platform:
        """The same platform with `settings` applied. TilewrightError (exit 2) for one it does not have."""
        known = {option.name: option for option in self.options}
        for name, value in settings.items():
            if name not in known:
                offered, meant = ", ".join(known) or "none", nearest(name, list(known))
                allowed = known[meant].choices or (value,) if meant else ()
                raise usage_error(
                    "TW1102",
                    f"target '{self.name}' has no setting '{name}'",
                    details=(*did_you_mean(name, known), f"it has: {offered}"),
                    fix=(
                        *([typed("--set", f"{meant}={value}")] if value in allowed else []),
                        typed("tilewright", "targets", self.name),
                    ),
                )
            if known[name].choices and value not in known[name].choices:
                choices, usual = known[name].choices, known[name].default or known[name].choices[0]
                raise usage_error(
                    "TW1102",
                    f"setting '{name}' of target '{self.name}' cannot be '{value}'",
                    details=(*did_you_mean(value, choices), f"it can be: {', '.join(choices)}"),
                    fix=(typed("--set", f"{name}={nearest(value, choices) or usual}"),),
                )
        merged = {option.name: option.default for option in self.options} | dict(settings)
        configured = replace(self, settings=merged)
        if self.configure_with is None:
            return configured
        return self._answered("configure_with", self.configure_with, self.configure_with(configured, merged))

    def with_limits(self, sizes: Mapping[str, int]) -> Platform:
        """The same platform with other memory sizes, in bytes. TilewrightError (exit 2) for an unknown memory."""
        names = sorted({memory.name for memory in self.memories})
        for name, size in sizes.items():
            if name not in names:
                meant, setting = nearest(name, names), self._setting_with(name)
                raise usage_error(
                    "TW1103",
                    f"target '{self.name}' has no memory '{name}'",
                    details=(*did_you_mean(name, names), f"it has: {', '.join(names)}"),
                    fix=(
                        *([typed("--memory", f"{meant}={size}")] if meant else []),
                        *([typed("--set", setting, gives="has it")] if setting else []),
                        typed("tilewright", "targets", self.name),
                    ),
                )
        return self.resized(sizes)

    def _setting_with(self, memory: str) -> str:
        """One setting, beside those there are, with which the target has the memory; "" where there is none."""
        for option in self.options:
            for choice in option.choices:
                try:
                    changed = self.configure({**self.settings, option.name: choice})
                except TilewrightError:
                    continue  # not with the others
                if any(present.name == memory for present in changed.memories):
                    return f"{option.name}={choice}"
        return ""

    def resized(self, sizes: Mapping[str, int | None]) -> Platform:
        """The same platform with other memory sizes, settled; None is no limit, names it does not have are ignored."""
        memories = tuple(
            replace(memory, size_bytes=sizes.get(memory.name, memory.size_bytes)) for memory in self.memories
        )
        limited = replace(self, memories=memories)
        settled = self._answered("settle", limited.settle, limited.settle(limited)) if limited.settle else limited
        return settled if self.bound_kernels is None else settled.running(self.bound_kernels)

    def running(self, kernels: Iterable[str]) -> Platform:
        """The same platform with what these kernels, by name, need of it."""
        if self.settle_kernels is None:
            return self
        names = frozenset(kernels)
        settled = self._answered("settle_kernels", self.settle_kernels, self.settle_kernels(self, names))
        return replace(settled, bound_kernels=names)

    def _answered(self, name: str, function: object, answer: object) -> Platform:
        return demand_type(answer, Platform, f"target '{self.name}'", function, name)

    def size_for(self, name: str, plan_bytes: int) -> int:
        """The least size of a memory in which a plan has `plan_bytes`: what the runtime takes may depend on it."""
        size = plan_bytes
        while (missing := plan_bytes - (self.resized({name: size}).plan_bytes(name) or 0)) > 0:
            size += missing
        return size


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHierarchy:
    """Other memories, and copies between them, for a target that exists: a board, or another chip of the family."""

    name: str
    summary: str
    platform: str  # name of the target it is for
    memories: tuple[Memory, ...]
    copies: tuple[CopyPath, ...] = ()

    def on(self, platform: Platform) -> Platform:
        """`platform` with these memories. TilewrightError (exit 2) when it is another target."""
        if self.platform == "*" or not platform.runs(self.platform):
            raise usage_error(
                "TW8012",
                f"memory hierarchy '{self.name}' is for target '{self.platform}', not '{platform.name}'",
                fix=(typed("--target", self.platform, gives="compiles for it"),),
            )
        return replace(platform, memories=self.memories, copies=self.copies)


def reachable(platform: Platform, memory: str) -> bool:
    """Whether the cores of the first engine can read a memory; if not, only copies can."""
    return platform.memory(memory).access.get(platform.engines[0].name) != "none"


def caller_memory(platform: Platform) -> Memory:
    """Where the caller's tensors are that are not in the plan: the backing memory, or the first ram in reach."""
    home = platform.backing_memory()
    if reachable(platform, home.name):
        return home
    return next((memory for memory in platform.of_kind("ram") if reachable(platform, memory.name)), home)
