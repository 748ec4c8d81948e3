"""Knows the command line of a script that writes into one folder. Does not know what is written there."""

from __future__ import annotations

import argparse
from pathlib import Path


def folder_asked(document: str | None, usual: Path) -> Path:
    """The FOLDER of the command line, or the usual one; `--help` shows the script's document."""
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=usual, metavar="FOLDER")
    result: Path = parser.parse_args().folder
    return result
