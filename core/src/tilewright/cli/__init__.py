"""The command line. Each command is a module that is imported when it is run.

Ctrl-C is understood from the first import on: what is imported next takes longer than this line does.
"""

import sys

try:
    from tilewright.cli.main import main
except KeyboardInterrupt:
    sys.stderr.write("interrupted: nothing was written\n")
    sys.exit(130)

__all__ = ["main"]
