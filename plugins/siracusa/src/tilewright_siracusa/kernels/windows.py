"""Knows how a call over sliding windows is written: the fields of `tw_xp_windows`, see windows.c.
Does not know what is computed in a window.
"""

from __future__ import annotations

WINDOWS_CALL = """\
${{function}}((tw_xp_windows){{
% for name, value in fields.items():
    .${{name}} = ${{value}},
% endfor
}}, {arguments});"""


def pad_word(value: int) -> str:
    """Four times the byte that a position outside holds, as C."""
    return f"UINT32_C(0x{(value & 255) * 0x01010101:08x})"
