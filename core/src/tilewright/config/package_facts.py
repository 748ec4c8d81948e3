"""Knows how `--package` is read: what a generated package is called, and whose it is.
Does not know any format of packages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from tilewright.errors import TilewrightError, usage_error
from tilewright.ir.plans.stages import PackageFacts

_FORMS: Mapping[str, tuple[str, str]] = {  # what all formats of packages take
    "name": (r"[A-Za-z][A-Za-z0-9_-]{0,62}", "a letter, then letters, digits, - and _"),
    "version": (r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}", "three numbers with dots, as 1.4.0"),
    "vendor": (r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,62}", "letters, digits, blanks, dots, - and _"),
    "licence": (r"[A-Za-z0-9][A-Za-z0-9.+() -]{0,62}", "an SPDX expression, as MIT or LicenseRef-Mine"),
    "url": (r"https?://[!-&(-;=?-~]+", "an address, as https://example.com/kws"),
}


def package_facts(text: str) -> PackageFacts:
    """What `name=..,version=..` says. TilewrightError TW1430 (exit 2) for what no package can be called."""
    facts = PackageFacts()
    for part in text.split(",") if text else ():
        key, equals, value = (word.strip() for word in part.partition("="))
        key = {"license": "licence"}.get(key, key)
        if key not in _FORMS or not equals:
            raise _wrong(text, f"'{part}' is none of {', '.join(f'{name}=..' for name in _FORMS)}")
        form, words = _FORMS[key]
        if not re.fullmatch(form, value):
            raise _wrong(text, f"{key} is {words}")
        facts = replace(facts, **{key: value})
    return facts


def _wrong(text: str, reason: str) -> TilewrightError:
    fix = ("--package name=keywords,version=1.4.0,vendor=Acme,licence=MIT,url=https://acme.example",)
    return usage_error("TW1430", f"'--package {text}' cannot be read", details=(reason,), fix=fix)
