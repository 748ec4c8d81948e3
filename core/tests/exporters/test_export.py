"""What an exporter may not do in the folder that several of them share."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright.errors import Exit, TilewrightError
from tilewright.exporters.export import export
from tilewright.ir.plans.stages import Artifact
from tilewright.plugins.offers import Exporter

ARTIFACT = Artifact(files={"kws.c": b"int kws;\n", "CMakeLists.txt": b"# cmake\n"})
PLAN: Any = None  # these exporters do not read it


def exporter(name: str, **files: bytes) -> Exporter:
    return Exporter(name=name, summary="", files=lambda plan, artifact: files)


def test_same_bytes_may_come_twice() -> None:
    one, other = (exporter(name, **{"a/b.txt": b"x", "kws.c": b"int kws;\n"}) for name in ("one", "other"))
    assert export((one, other), PLAN, ARTIFACT) == {"a/b.txt": b"x", "kws.c": b"int kws;\n"}


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../kws.c", "a/../../b", "a\\b", "./a", "a//b", "kws.c", "KWS.C", "kws.c/b", "report.json"],
    ids=lambda path: path,
)
def test_odd_paths_and_other_contents_are_refused(path: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        export((exporter("acme", **{path: b"mine"}),), PLAN, ARTIFACT)
    assert (caught.value.code, caught.value.exit_code) == ("TW8040", Exit.PLUGIN)
    assert "'acme'" in caught.value.message
    assert path in caught.value.message


def test_files_have_names() -> None:
    def files(*_: object) -> Any:
        return [b"mine"]

    unnamed = Exporter(name="acme", summary="", files=files)
    with pytest.raises(TilewrightError, match=r"TW8062\]: exporter 'acme': files must return a mapping from names"):
        export((unnamed,), PLAN, ARTIFACT)


def test_two_exporters_with_one_file_are_told_apart() -> None:
    with pytest.raises(TilewrightError) as caught:
        export((exporter("one", x=b"1"), exporter("other", x=b"2")), PLAN, ARTIFACT)
    assert "exporter 'one'" in caught.value.details[0]


@pytest.mark.parametrize(("first", "second"), [("makefile", "Makefile"), ("a", "a/b"), ("a/b/c", "a")])
def test_a_name_in_the_way_is_refused(first: str, second: str) -> None:
    with pytest.raises(TilewrightError, match="'other' may not write"):
        export((exporter("one", **{first: b""}), exporter("other", **{second: b""})), PLAN, ARTIFACT)
