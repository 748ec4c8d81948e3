"""Installs freshly built wheels of the core (and of the plugins named) into the running Python, never editable.
Usage: python tools/install.py EXTRAS [PLUGIN...]; EXTRAS such as `test,lint`, PLUGIN a folder name or `all`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from wheels import ROOT, build, projects


def main(extras: str, plugins: list[str]) -> None:
    """One call of pip, so that the plugins' requirement on the core is met by the wheel beside them."""
    core, *every = projects()
    chosen = every if plugins == ["all"] else [ROOT / "plugins" / name for name in plugins]
    with tempfile.TemporaryDirectory() as scratch:
        wheel = build(core, Path(scratch))
        others = [str(build(project, Path(scratch))) for project in chosen]
        command = [sys.executable, "-m", "pip", "install", "-q", "--force-reinstall", "--no-deps", str(wheel), *others]
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", f"{wheel}[{extras}]", *others], check=True)
        subprocess.run(command, check=True)  # the version may be the same while the content is not


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
