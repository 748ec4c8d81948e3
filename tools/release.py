"""Builds everything that a release uploads, checks it, and says how to upload it; it uploads nothing itself.
Usage: python tools/release.py FOLDER [--trial] [--wheels FOLDER]. Needs build, twine and check-wheel-contents.

    addresses   the packages name the same ones, Source and Issues among them (--trial: those may be missing)
    versions    the packages have one version, and CHANGELOG.md a section with its date (--trial: "unreleased" will do)
    build       an sdist of each package, in isolation, and from it the wheel, without the extension that one has
    again       the same bytes a second time: times are those of the last commit, or SOURCE_DATE_EPOCH
    wheels      those of tilewright-minimalloc that cibuildwheel made elsewhere are added: --wheels FOLDER
    contents    twine check --strict, check-wheel-contents, and the licence is in each file

Building these wheels needs containers: `cibuildwheel --output-dir FOLDER plugins/minimalloc_allocator`. Without
them, for Linux with glibc and the processor of this machine (the extension asks for nothing newer than glibc 2.14):
`pip wheel --no-deps -w built ./plugins/minimalloc_allocator`, then `auditwheel repair -w FOLDER built/*.whl`.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from wheels import NOT_SOURCES, ROOT, metadata, projects

SITE_ADDRESSES, PUBLIC_ADDRESSES = ("Homepage", "Documentation", "Changelog"), ("Source", "Issues")
VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


def main() -> int:
    """0 when everything is ready to be uploaded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--trial", action="store_true", help="neither a date in CHANGELOG.md nor a public repository")
    parser.add_argument("--wheels", type=Path, help="a folder with more wheels of tilewright-minimalloc")
    arguments = parser.parse_args()
    named = {name: metadata(project).get("urls", {}) for name, project in projects().items()}
    demand_addresses(named, public=not arguments.trial)
    version = the_version(dated=not arguments.trial)
    os.environ["SOURCE_DATE_EPOCH"] = epoch()
    os.environ["TILEWRIGHT_PURE"] = "1"
    made = built(arguments.folder)
    with tempfile.TemporaryDirectory() as scratch:
        differs = [path.name for path, again in zip(made, built(Path(scratch)), strict=True) if not same(path, again)]
    if differs:
        raise SystemExit(f"not the same bytes when built again: {', '.join(differs)}")
    for wheel in sorted(arguments.wheels.glob("tilewright_minimalloc-*.whl")) if arguments.wheels else ():
        made.append(Path(shutil.copy(wheel, arguments.folder)))
    check(made)
    sys.stdout.write(f"{len(made)} files of {version} are ready: twine upload {arguments.folder}/*\n")
    return 0


def demand_addresses(named: Mapping[str, Mapping[str, str]], *, public: bool) -> None:
    """SystemExit where a package's page would not show what the core's shows, or not where the sources are."""
    for name, addresses in named.items():
        if addresses != named["core"]:
            raise SystemExit(f"[project.urls] of {name} is not that of the core")
    needed = (*SITE_ADDRESSES, *(PUBLIC_ADDRESSES if public else ()))
    if missing := [address for address in needed if address not in named["core"]]:
        raise SystemExit(f"[project.urls] has no {', '.join(missing)}: docs/release.md says when to add them")


def the_version(*, dated: bool) -> str:
    """The version of every package; SystemExit where they differ, or CHANGELOG.md does not know it."""
    (core,) = VERSION.findall((ROOT / "core/src/tilewright/__init__.py").read_text(encoding="utf-8"))
    for name, project in projects().items():
        if (own := metadata(project).get("version", core)) != core:
            raise SystemExit(f"{name} is {own}, the core is {core}")
    section = rf"^## {re.escape(core)} \((\d{{4}}-\d\d-\d\d{'' if dated else '|unreleased'})\)$"
    if not re.search(section, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE):
        raise SystemExit(f"CHANGELOG.md has no section '## {core} (YYYY-MM-DD)'")
    return core


def epoch() -> str:
    """SOURCE_DATE_EPOCH as it is set, or the time of the last commit in seconds."""
    if seconds := os.environ.get("SOURCE_DATE_EPOCH"):
        return seconds
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def built(folder: Path) -> list[Path]:
    """An sdist and a wheel of every package, from a copy of the sources."""
    folder.mkdir(parents=True, exist_ok=True)
    for project in projects().values():
        with tempfile.TemporaryDirectory() as scratch:
            copy, out = Path(scratch) / project.name, Path(scratch) / "dist"
            shutil.copytree(project, copy, ignore=NOT_SOURCES)
            subprocess.run(
                [sys.executable, "-m", "build", "--outdir", str(out), str(copy)], check=True, stdout=subprocess.DEVNULL
            )
            for path in out.iterdir():
                shutil.copy(path, folder)
    for sdist in folder.glob("*.tar.gz"):
        sdist.write_bytes(without_accidents(sdist.read_bytes()))
    return sorted(folder.glob("tilewright*"))


def without_accidents(sdist: bytes) -> bytes:
    """The archive in alphabetical order, without who made it and when."""
    content, when = io.BytesIO(), int(os.environ["SOURCE_DATE_EPOCH"])
    with tarfile.open(fileobj=io.BytesIO(sdist)) as old, tarfile.open(fileobj=content, mode="w") as new:
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime, member.pax_headers = when, {}
            member.mode = 0o755 if member.isdir() else 0o644
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return gzip.compress(content.getvalue(), mtime=when)


def same(left: Path, right: Path) -> bool:
    """Whether two files have one name and the same bytes."""
    return left.name == right.name and left.read_bytes() == right.read_bytes()


def check(files: list[Path]) -> None:
    """CalledProcessError or SystemExit where a file is not fit to be uploaded."""
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *map(str, files)], check=True)
    wheels = [path for path in files if path.suffix == ".whl"]
    subprocess.run([sys.executable, "-m", "check_wheel_contents", *map(str, wheels)], check=True)
    for path in files:
        if not any(name.endswith("/LICENSE") for name in names_in(path)):
            raise SystemExit(f"{path.name} has no LICENSE")


def names_in(archive: Path) -> list[str]:
    """The files of a wheel or of an sdist."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.namelist()
    with tarfile.open(archive) as sdist:
        return sdist.getnames()


if __name__ == "__main__":
    sys.exit(main())
