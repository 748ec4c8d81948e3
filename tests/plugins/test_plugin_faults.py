"""Every way a plugin package can be broken: alone it harms nobody, needed it is an error that names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

OFFER = "from tilewright.api import hookimpl\nfrom tilewright.api.platform import Memory, Platform\n@hookimpl\n"
# both hooks are broken in the same way: the one that is asked when it is needed, and the one that is asked when not
BOTH = OFFER + "def tilewright_platforms(): {body}\n@hookimpl\ndef tilewright_graph_passes(): {body}"

# name -> (source, how the entry points end, words of the error, status)
FAULTS: Mapping[str, tuple[str, str, tuple[str, ...], str]] = {
    "import-error": ("import nothing_of_this_name", "", ("TW8004", "ModuleNotFoundError", "nothing_of_th"), "failed"),
    "exits-at-import": ("raise SystemExit(0)", "", ("TW8004", "SystemExit"), "failed"),
    "needs-newer-core": ("raise RuntimeError('imported')", "", ("TW8003", "needs tilewright>=99"), "incompatible"),
    "misspelt-hook": (
        OFFER + "def tilewright_platfroms(): return ()",
        "",
        ("TW8005", "no hook 'tilewright_platfroms'", "did you mean 'tilewright_platforms'?"),
        "failed",
    ),
    "wrong-argument": (
        OFFER + "def tilewright_platforms(config): return ()",
        "",
        ("TW8005", "'tilewright_platforms' takes ()", "declared with (config)"),
        "failed",
    ),
    "unmarked-hook": ("def tilewright_platforms(): return ()", "", ("TW8005", "not marked with @hookimpl"), "failed"),
    "hook-raises": (
        BOTH.format(body="return 1 // 0"),
        "",
        ("TW8006", "failed: ZeroDivisionError", "hook_raises.py:4"),
        "failed",
    ),
    "wrong-type": (
        BOTH.format(body="return ('wrong-type',)"),
        "",
        ("TW8006", "must return", "objects, found str"),
        "failed",
    ),
    "not-iterable": (
        BOTH.format(body="return Platform(name='x', memories=())"),
        "",
        ("TW8006", "failed: TypeError", "not iterable", "not_iterable.py:3"),
        "failed",
    ),
    "wrong-syntax": ("from tilewright.api import\n", "", ("TW8004", "SyntaxError", "wrong_syntax.py:1"), "failed"),
    "wrong-field": (
        "from tilewright.api.kernel import Kernel\n\nKernel(name='k', op='Clip', cycle=1)",
        "",
        ("TW8004", "unexpected keyword argument 'cycle'", "wrong_field.py:3"),
        "failed",
    ),
    "nowhere-module": ("", ".nowhere", ("TW8004", "nowhere_module.nowhere", "ModuleNotFoundError"), "failed"),
    "nowhere-attribute": ("", ":nowhere", ("TW8004", "nowhere_attribute:nowhere", "AttributeError"), "failed"),
    "a-class": ("class Plugin: ...", ":Plugin", ("TW8005", "is a class"), "failed"),
    "empty-promise": ("", "", ("TW8008", "'platform.empty-promise' is announced"), "failed"),
    "unannounced": (
        OFFER + "def tilewright_platforms():\n"
        "    ram = Memory(name='ram', size_bytes=None)\n"
        "    return tuple(Platform(name=name, memories=(ram,)) for name in ('unannounced', 'secret'))",
        "",
        ("TW8008", "no entry point 'platform.secret'"),
        "failed",
    ),
    "bad-requirement": ("raise RuntimeError('imported')", "", ("TW8003", "cannot be read"), "failed"),
    "is-blocked": (OFFER + "def tilewright_platforms(): return ()", "", ("TW8002", "TILEWRIGHT_BLOCK"), "blocked"),
}
HARMLESS = ("empty-promise", "unannounced")  # what is wrong concerns targets only, which nobody asks them for
USABLE = ("unannounced",)  # without the one target that has no entry point
REQUIRES = {"needs-newer-core": ("tilewright>=99",), "bad-requirement": ("tilewright>>=1",)}
BLOCK = {"TILEWRIGHT_BLOCK": "Is_Blocked"}


@pytest.fixture(scope="module", name="site")
def _site(make_site: Any, make_plugin: Any, healthy: Any) -> Any:
    """All of them at once. Each offers a target of its name, and a pack of graph passes that is nice to have."""
    plugins = []
    for name, (source, ending, _, _) in FAULTS.items():
        reference = name.replace("-", "_") + ending
        entry_points = {f"platform.{name}": reference, "graph_pass.extra-" + name: reference}
        requires = REQUIRES.get(name, ("tilewright>=0.1",))
        plugins.append(make_plugin(name=name, source=source, entry_points=entry_points, requires=requires))
    return make_site(healthy, *plugins)


@pytest.fixture(scope="module", name="answers")
def _answers(site: Any) -> dict[str, Any]:
    """One process: what a compilation for each target says, in a row, the healthy one first and last."""
    targets = ("healthy", *FAULTS)
    answers = site.probe(*(f"compile:{name}" for name in targets), "compile:healthy", "doctor", "list", **BLOCK)
    return dict(zip((*targets, "again", "doctor", "list"), answers, strict=True))


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in HARMLESS])
def test_not_needed_is_one_warning_line(answers: dict[str, Any], name: str) -> None:
    lines = [line for line in answers["healthy"]["answer"]["warnings"] if f"plugin {name} 1.2.3" in line]
    assert len(lines) == 1
    code, *words = (word for word in FAULTS[name][2] if ".py:" not in word)
    assert lines[0].startswith(f"warning[{code}]: ")
    assert all(word in lines[0] for word in words), lines[0]


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in USABLE])
def test_needed_is_an_error_with_package_version_and_cause(answers: dict[str, Any], name: str) -> None:
    answer = answers[name]
    assert answer["exit"] == 8
    assert f"target '{name}' needs plugin {name} 1.2.3" in answer["error"]
    assert all(word in answer["error"] for word in FAULTS[name][2]), answer["error"]
    assert "try:" in answer["error"]


@pytest.mark.parametrize("name", USABLE)
def test_what_has_no_entry_point_is_left_out_alone(answers: dict[str, Any], name: str) -> None:
    answer = answers[name]["answer"]
    assert answer["platforms"] == [name]
    (line,) = (line for line in answer["warnings"] if f"plugin {name} 1.2.3" in line)
    assert line.startswith(f"warning[TW8008]: plugin {name} 1.2.3 is used without 'platform.secret': ")


def test_the_healthy_plugin_works_among_them(answers: dict[str, Any]) -> None:
    assert answers["healthy"]["answer"]["platforms"] == ["healthy"]
    assert len(answers["healthy"]["answer"]["warnings"]) == len(FAULTS) - len(HARMLESS)
    assert answers["again"] == answers["healthy"]


@pytest.mark.parametrize("name", FAULTS)
def test_doctor_says_what_is_wrong(answers: dict[str, Any], name: str) -> None:
    report = next(report for report in answers["doctor"]["answer"] if report["package"] == name)
    code, *_ = FAULTS[name][2]
    assert (report["status"], report["code"], report["version"]) == (FAULTS[name][3], code, "1.2.3")
    assert report["detail"]


def test_doctor_finds_the_healthy_one_ok(answers: dict[str, Any]) -> None:
    report = next(report for report in answers["doctor"]["answer"] if report["package"] == "healthy-plugin")
    assert report["status"] == "ok"
    assert report["hooks"] == ["tilewright_platforms"]
    assert report["offers"] == ["target healthy"]


def test_listing_imports_none_of_them(site: Any) -> None:
    listed, names, *imported = site.probe(
        "list:", "names:platform", *(f"imported:{name.replace('-', '_')}" for name in FAULTS), "imported:healthy_plugin"
    )
    assert {report["package"] for report in listed["answer"]} >= {"healthy-plugin", *FAULTS}
    assert set(names["answer"]) >= {"healthy", *FAULTS}
    assert all(answer == {"answer": []} for answer in imported)


def test_vetting_comes_before_import(site: Any) -> None:
    *_, newer, blocked = site.probe(
        "compile:needs-newer-core",
        "compile:is-blocked",
        "compile:healthy",
        "imported:needs_newer_core",
        "imported:is_blocked",
        **BLOCK,
    )
    assert newer == blocked == {"answer": []}


def test_a_failure_is_not_remembered(make_site: Any, make_plugin: Any, source_of_target: Any) -> None:
    source = source_of_target("mended", extra="import nothing_of_this_name")
    site = make_site(make_plugin(name="mended", source=source, entry_points={"platform.mended": "mended"}))
    broken, _, mended = site.probe("named:platform.mended", f"fix:mended@{site.folder}", "named:platform.mended")
    assert broken["exit"] == 8
    assert mended["answer"]["platforms"] == ["mended"]
