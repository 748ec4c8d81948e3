"""Tries what a stranger does first on a Debian that has Python, venv and git, and nothing else, in chroots: the
demonstration, `.ci/quick` and `.ci/run`, in this order, or those that `--only` names. Needs root, debootstrap, network.
Usage: python tools/bare_machine.py FOLDER [--only demo|quick|run ...] [--suite NAME] [--most-skips N] [-- ARGUMENT...].
ARGUMENTs are those of `.ci/quick` and `.ci/run`. FOLDER gets the machine, and a copy of it for each (some GB), which
are kept: `.ci/run` begins a second time with what it has installed, the others with nothing.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRIED = {
    "demo": ("sh", "/checkout/examples/digits/demo.sh"),
    "quick": ("bash", "/checkout/.ci/quick"),
    "run": ("bash", "/checkout/.ci/run"),
}
PACKAGES = "ca-certificates,git,python3,python3-venv"
MOST_SKIPS = 20
SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] (.+)$", re.MULTILINE)
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
NETWORK = ("etc/resolv.conf", "etc/hosts", CERTIFICATES)  # as this machine reaches it
HELD = ("proc", "dev", "sys")  # of this machine, that programs expect


def main() -> int:
    """0 when all that is tried is green, and little was skipped in each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", choices=TRIED, help="of what is tried; may be given several times")
    parser.add_argument("--suite", default="bookworm", help="of Debian")
    parser.add_argument("--most-skips", type=int, default=MOST_SKIPS)
    parser.add_argument("arguments", nargs="*", help="of .ci/quick and .ci/run")
    arguments = parser.parse_args()
    if shutil.which("debootstrap") is None:
        sys.stderr.write("debootstrap is not here: apt-get install debootstrap\n")
        return 3
    machine = arguments.folder.resolve() / arguments.suite
    if not (machine / "etc" / "debian_version").exists():
        machine.mkdir(parents=True, exist_ok=True)
        _run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", arguments.suite, str(machine))
    codes = [_tried(name, machine, arguments) for name in TRIED if name in (arguments.only or TRIED)]
    return max(codes, key=abs)


def _tried(name: str, machine: Path, arguments: argparse.Namespace) -> int:
    """What one of them ends with on a copy of the machine; 1 where it is green and skips too much."""
    copy = machine.with_name(f"{machine.name}-{name}")
    if name != "run":  # which installs compilers that take long to get
        _run("rm", "-rf", "--one-file-system", str(copy))  # never what is mounted in one that was not left in order
    if not copy.exists():
        _run("cp", "-a", str(machine), str(copy))
    _checkout(copy)
    code, said = _inside(copy, *TRIED[name], *(() if name == "demo" else arguments.arguments))
    total = sum(int(count) for count, _ in SKIPPED.findall(said))
    sys.stdout.write(f"{name}: exit code {code}, {total} tests were skipped (at most {arguments.most_skips})\n")
    return code or int(total > arguments.most_skips)


def _checkout(machine: Path) -> None:
    """What is committed here, as a clone: nothing that lies about comes along."""
    target = machine / "checkout"
    shutil.rmtree(target, ignore_errors=True)
    _run("git", "clone", "-q", "--no-local", str(ROOT), str(target))


def _inside(machine: Path, *command: str) -> tuple[int, str]:
    """Exit code and output of a command on that machine; the output is shown as it comes."""
    for name in NETWORK:
        shutil.copy(f"/{name}", machine / name)
    clean = ["env", "-i", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"]
    clean += [f"PIP_CERT=/{CERTIFICATES}", f"SSL_CERT_FILE=/{CERTIFICATES}"]
    held: list[str] = []
    try:
        for name in HELD:
            _run("mount", "--rbind", f"/{name}", str(machine / name))
            _run("mount", "--make-rslave", str(machine / name))
            held.append(name)
        process = subprocess.Popen(["chroot", str(machine), *clean, *command], stdout=subprocess.PIPE, text=True)
        lines = [*_shown(process.stdout or ())]
        return process.wait(), "".join(lines)
    finally:
        for name in reversed(held):
            _run("umount", "-R", str(machine / name))


def _shown(lines: Iterable[str]) -> Iterable[str]:
    for line in lines:
        sys.stdout.write(line)
        yield line


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    sys.exit(main())
