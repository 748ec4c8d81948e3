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
WINDOWS_AT_CALL = WINDOWS_CALL.replace("((", "(&(")  # of functions with frames of their own: one copy


def pad_word(value: int, value_bytes: int = 1) -> str:
    """What positions outside hold, of so many bytes each, as often as a word holds it, as C."""
    word = (value & 255) * 0x01010101 if value_bytes == 1 else (value & 65535) * 0x00010001
    return f"UINT32_C(0x{word:08x})"
