"""The command line. Each command is a module that is imported when it is run."""

from tilewright.cli.main import main

__all__ = ["main"]
