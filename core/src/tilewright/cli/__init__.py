"""The command line. Each command is a module that is imported when it is run.

Ctrl-C is understood from the first import on: what is imported next takes longer than this line does.
"""

import gc
import sys

gc.set_threshold(10_000)  # objects between two looks for cycles: imports and compilations make few, 700 is too often
try:
    from tilewright.cli.main import main
except KeyboardInterrupt:
    sys.stderr.write("interrupted: nothing was written\n")
    sys.exit(130)

__all__ = ["main"]
