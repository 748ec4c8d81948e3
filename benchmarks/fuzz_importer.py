"""Models that are nearly right: cases of onnx's suite, changed by a seed, compiled; some are built and run.

    python benchmarks/fuzz_importer.py [--seeds 0:1000] [--build 50] [--keep FOLDER]

A seed picks a case, leaves the shapes of its outputs undeclared, so that wrong shapes get deep, and changes one to
three things: a dimension, a type, an attribute, an operator, a wire, elements, the version of the operators.
Each must be compiled or refused (internal errors and anything over 20 CPU s are failures); every N-th that is compiled
(`--build N`) must build without a warning and run under AddressSanitizer and UndefinedBehaviorSanitizer. Failures with
one cause are counted together; the exit code is the number of causes, and `--keep` has one model of each.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import onnx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from conformance.cases import all_cases  # found only now
from tilewright.comparison.vectors import random_vectors
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.programs.runner import Job
from tilewright.runners.host import HostRunner

TARGET = "generic"
SECONDS = 20
MOST_BYTES = 20_000  # of a case that is changed
NUMBERS = (-(1 << 63), -(1 << 31), -2, -1, 0, 1, 2, 3, 5, 7, 64, 1 << 20, (1 << 31) - 1, (1 << 63) - 1)
TYPES = (1, 2, 3, 6, 7, 9, 10, 11)


def _dimension(model: Any, chance: random.Random) -> None:
    values = [value for value in model.graph.input if value.type.tensor_type.shape.dim]
    if not values:
        return
    dims = chance.choice(values).type.tensor_type.shape.dim
    match chance.randrange(3):
        case 0:
            chance.choice(dims).dim_value = chance.choice(NUMBERS)
        case 1:
            del dims[chance.randrange(len(dims))]
        case _:
            dims.add().dim_value = chance.choice((0, 1, 2))


def _type(model: Any, chance: random.Random) -> None:
    if model.graph.input:
        chance.choice(model.graph.input).type.tensor_type.elem_type = chance.choice(TYPES)


def _attribute(model: Any, chance: random.Random) -> None:
    node = chance.choice(model.graph.node)
    if not node.attribute:
        return
    attribute = chance.choice(node.attribute)
    if chance.random() < 0.2:
        node.attribute.remove(attribute)
    elif attribute.type == onnx.AttributeProto.INT:
        attribute.i = chance.choice(NUMBERS)
    elif attribute.type == onnx.AttributeProto.FLOAT:
        attribute.f = chance.choice((0.0, -1.0, float("inf"), float("nan"), 1e30))
    elif attribute.type == onnx.AttributeProto.INTS and attribute.ints:
        place = chance.randrange(len(attribute.ints))
        attribute.ints[place] = chance.choice(NUMBERS)
        if chance.random() < 0.3:
            del attribute.ints[place]


def _operator(model: Any, chance: random.Random) -> None:
    chance.choice(model.graph.node).op_type = chance.choice(sorted({case.operator for case in all_cases().values()}))


def _wire(model: Any, chance: random.Random) -> None:
    node = chance.choice(model.graph.node)
    names = [value.name for value in (*model.graph.input, *model.graph.initializer)]
    if node.input and names:
        node.input[chance.randrange(len(node.input))] = chance.choice([*names, ""])
    if chance.random() < 0.2 and names:
        node.input.append(chance.choice(names))


def _elements(model: Any, chance: random.Random) -> None:
    if not model.graph.initializer:
        return
    tensor = chance.choice(model.graph.initializer)
    match chance.randrange(3):
        case 0 if tensor.int64_data:
            tensor.int64_data[chance.randrange(len(tensor.int64_data))] = chance.choice(NUMBERS)
        case 1 if len(tensor.raw_data) >= 8:
            place = 8 * chance.randrange(len(tensor.raw_data) // 8)
            number = chance.choice(NUMBERS).to_bytes(8, "little", signed=True)
            tensor.raw_data = tensor.raw_data[:place] + number + tensor.raw_data[place + 8 :]
        case _:
            tensor.dims.append(1)


def _version(model: Any, chance: random.Random) -> None:
    chance.choice(model.opset_import).version = chance.randint(1, 23)


CHANGES: Sequence[Callable[[Any, random.Random], None]] = (
    *(_dimension,) * 3,
    _type,
    *(_attribute,) * 3,
    _operator,
    _wire,
    _elements,
    _version,
)


def mutant(seed: int) -> tuple[str, bytes]:
    """What the seed makes: the case it was, and the model."""
    chance = random.Random(seed)
    names = sorted(name for name, case in all_cases().items() if len(case.model) < MOST_BYTES)
    name = chance.choice(names)
    model = onnx.ModelProto.FromString(all_cases()[name].model)
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    for _ in range(chance.randint(1, 3)):
        chance.choice(CHANGES)(model, chance)
    return name, model.SerializeToString()


def verdict(model: bytes, *, build: bool) -> str:
    """ "compiled", "refused", or the cause of a failure."""
    deployment = Deployment(model, TARGET, Options(name="mutant", const_format="c", emit=()))
    try:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        deployment.compile()
        signal.setitimer(signal.ITIMER_PROF, 0)
        if build:
            _run(deployment)
    except TilewrightError as error:
        failed = error.exit_code in (Exit.INTERNAL, Exit.TOOLCHAIN, Exit.PLUGIN)
        return f"{error.code}: {error.message[:80]}" if failed else "refused"
    except Exception as error:  # what is looked for
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "compiled"


def _run(deployment: Deployment) -> None:
    (vector,) = random_vectors(deployment.inputs, 1, 0)
    job = Job(
        artifact=deployment.artifact,
        plan=deployment.allocated,
        prefix=deployment.prefix,
        input_sets=(vector.inputs,),
        sanitize=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        HostRunner().run(job, Path(folder))


def _too_long(signum: int, frame: FrameType | None) -> None:
    raise TimeoutError("too long")


def main() -> int:
    """Try the seeds; return the number of causes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0:1000")
    parser.add_argument("--build", type=int, default=50, help="build every N-th mutant that is compiled; 0: none")
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, _too_long)
    first, last = map(int, arguments.seeds.split(":"))
    counted: Counter[str] = Counter()
    for seed in range(first, last):
        name, model = mutant(seed)
        build = bool(arguments.build) and counted["compiled"] % arguments.build == 0
        result = verdict(model, build=build)
        counted[result] += 1
        if result in ("compiled", "refused") or counted[result] > 1:
            continue
        print(f"seed {seed} ({name}): {result}", flush=True)
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            (arguments.keep / f"{seed}.onnx").write_bytes(model)
    causes = {result: count for result, count in counted.items() if result not in ("compiled", "refused")}
    fine = f"{counted['compiled']} compiled, {counted['refused']} refused"
    print(f"{last - first} mutants: {fine}, {causes or 'no'} failures")
    return len(causes)


if __name__ == "__main__":
    sys.exit(min(main(), 100))
