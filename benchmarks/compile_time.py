"""CPU seconds of whole `tilewright` processes, and start-up times, on the networks it is given.

    python benchmarks/compile_time.py [MODEL.onnx ...]

Without models: the digits example and, where they are, the trained networks beside the checkout.

Each command runs five times; the table has the smallest user + system time, which is the least disturbed one.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
RUNS = 5
LIMIT_SECONDS = 3.0


def main() -> int:
    """Print the table; 1 when a limit is missed."""
    models = [Path(argument) for argument in sys.argv[1:]] or default_models()
    tilewright = str(Path(sys.executable).with_name("tilewright"))
    worst = 0.0
    print("| network | check, CPU s | compile, CPU s |\n|---|---:|---:|")
    for model in models:
        with tempfile.TemporaryDirectory() as folder:
            check = cpu_seconds([tilewright, "check", str(model), "--target", "generic"])
            build = cpu_seconds([tilewright, "compile", str(model), "--target", "generic", "-o", folder, "-q"])
        worst = max(worst, check, build)
        print(f"| {model.stem} | {check:.2f} | {build:.2f} |")
    help_seconds = wall_seconds([tilewright, "--help"])
    print(f"\n`tilewright --help`: {1000 * help_seconds:.0f} ms")
    print("\n| import | CPU ms |\n|---|---:|")
    for layer in ("", ".graph", ".platform", ".operator", ".kernel", ".passes", ".allocator", ".runner", ".tiler"):
        print(f"| `tilewright.api{layer}` | {1000 * import_seconds(f'tilewright.api{layer}'):.0f} |")
    return int(worst > LIMIT_SECONDS)


def default_models() -> list[Path]:
    """The committed network, then the trained ones beside the checkout."""
    shared = HERE.parents[1] / "shared" / "models"
    return [HERE.parent / "examples" / "digits" / "digits_int8.onnx", *sorted(shared.glob("*.onnx"))]


def cpu_seconds(command: list[str]) -> float:
    """The smallest user + system time of one child process."""
    times = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(times)


def wall_seconds(command: list[str]) -> float:
    """The smallest wall time."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return min(times)


def import_seconds(module: str) -> float:
    """CPU time of the import alone, without the interpreter's own start."""
    code = f"import time; start = time.process_time(); import {module}; print(time.process_time() - start)"
    outputs = [
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True) for _ in range(RUNS)
    ]
    return min(float(item.stdout) for item in outputs)


if __name__ == "__main__":
    sys.exit(main())
