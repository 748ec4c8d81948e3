"""Knows how to build a program for several cores on this machine and run it on arrays, one thread for each core.
Does not know devices: no addresses, no clock. The runner `twin` has those.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.c_text.templates import template
from tilewright.ir.plans.stages import Artifact
from tilewright.ir.programs.program import Program
from tilewright.runners.host import STRICT
from tilewright.runners.toolchain import find_compiler

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def run_team(
    artifact: Artifact, program: Program, inputs: Mapping[str, Array], folder: Path, **how: Any
) -> dict[str, Array]:
    """Outputs by name; `how` is what `build_team` takes. CalledProcessError where the program stops."""
    team = build_team(artifact, program, folder, **how)
    given = b"".join(np.ascontiguousarray(inputs[port.value]).tobytes() for port in program.inputs)
    answer = subprocess.run([str(team)], input=given, check=True, capture_output=True).stdout
    outputs: dict[str, Array] = {}
    start = 0
    for port in program.outputs:
        tensor = port.tensor
        data = answer[start : start + tensor.size_bytes]
        outputs[port.value] = np.frombuffer(data, tensor.dtype.numpy).reshape(tensor.shape)
        start += tensor.size_bytes
    return outputs


def build_team(
    artifact: Artifact,
    program: Program,
    folder: Path,
    *,
    cores: int = 1,
    dma_core: bool = False,
    compiler: str = "",
    flags: Sequence[str] = (),
) -> Path:
    """A program that reads the inputs from stdin and writes the outputs to stdout, both in the graph's order.

    `cores` compute; with `dma_core` one more moves data. CalledProcessError where it does not build without warnings.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in artifact.files.items():
        (folder / name).write_bytes(content)
    (folder / "team_main.c").write_text(_main(program), encoding="utf-8")
    kept = [path for path in sorted(folder.glob("*.[cS]")) if not path.stem.endswith(("_selftest", "_simple"))]
    command = [
        *(shlex.split(compiler) or find_compiler().command),
        *STRICT,
        *flags,
        f"-DTW_TEST_CORES={cores}",
        *(["-DTW_TEST_DMA_CORE"] if dma_core else []),
        f"-I{folder}",
        "-o",
        str(folder / "team"),
        *map(str, kept),
    ]
    backend = Path(__file__).with_name("tw_rt_threads.c")
    subprocess.run([*command, str(backend), "-lm", "-lpthread"], check=True, cwd=folder)
    return folder / "team"


_MAIN = """\
#include "${p}.h"

#include <stdio.h>
#include <stdlib.h>

int tw_test_team(int (*work)(void *), void *argument);

typedef struct {
    ${p}_ctx ctx;
    ${p}_pools pools;
    ${p}_inputs in;
    ${p}_outputs out;
} network;

static void *pool(size_t bytes)
{
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void *read_all(size_t bytes)
{
    void *const tensor = pool(bytes);
    if (fread(tensor, 1, bytes, stdin) != bytes) {
        abort();
    }
    return tensor;
}

static int work(void *given)
{
    network *const one = given;
    return ${p}_run(&one->ctx, &one->in, &one->out);
}

int main(void)
{
    static network job; /* what it points to stays reachable */
    int status;
% for pool in program.pools:
    job.pools.${pool.base} = pool(${upper}_POOL_${pool.base.upper()}_SIZE);
% endfor
% for port in program.inputs:
    job.in.${port.member} = read_all(${port.tensor.size_bytes});
% endfor
% for port in program.outputs:
    job.out.${port.member} = pool(${port.tensor.size_bytes});
% endfor
    status = ${p}_init(&job.ctx, &job.pools, NULL, NULL, NULL);
    if (status == 0) {
        status = tw_test_team(work, &job);
    }
% for port in program.outputs:
    fwrite(job.out.${port.member}, 1, ${port.tensor.size_bytes}, stdout);
% endfor
    return status != 0;
}
"""


def _main(program: Program) -> str:
    """Reads the inputs from stdin, runs the team, writes the outputs to stdout. Pools have no byte too many."""
    return str(template(_MAIN).render(program=program, p=program.prefix, upper=program.prefix.upper()))
