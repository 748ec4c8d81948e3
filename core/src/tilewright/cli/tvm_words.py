"""Knows the words of a command line that users of TVM's memory planner type, and ours for them.
Does not know any command.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

DETAIL = re.compile(r"--(?:usmp-)?(?:workspace|parameter)-pool-([A-Za-z_]\w*)(?:=(.*))?", re.DOTALL)


def spelled_out(arguments: Sequence[str]) -> list[str]:
    """The words of a command line with `--workspace-pool-NAME TEXT` of TVM's users as `--pool-detail NAME=TEXT`.

    The text may be the next word after a `=`, too: so the planner's own proposal writes it.
    """
    words: list[str] = []
    waiting = ""
    for word in arguments:
        found = DETAIL.fullmatch(word)
        if waiting:
            words += ["--pool-detail", f"{waiting}={word}"]
            waiting = ""
        elif found and not found[2]:
            waiting = found[1]
        elif found:
            words += ["--pool-detail", f"{found[1]}={found[2]}"]
        else:
            words.append(word)
    return [*words, *(["--pool-detail", waiting] if waiting else [])]
