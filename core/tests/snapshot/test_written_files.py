"""A run removes what the run before wrote and it does not write itself, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tilewright.errors import TilewrightError
from tilewright.snapshot.written_files import MANIFEST, leftovers, write_files

FIRST = {"net.c": b"int a;\n", "net_weights.S": b".incbin\n", "arduino/src/net.c": b"int a;\n", "net.bin": bytes(9)}
SECOND = {"net.c": b"int b;\n", "net_weights.c": b"int w;\n"}


def compiled(folder: Path, files: dict[str, bytes]) -> tuple[str, ...]:
    """One run, and the files that its warnings are about."""
    found = leftovers(folder, files)
    write_files(folder, files, found.stale)
    assert {one.code for one in found.diagnostics} <= {"TW1121"}
    return tuple(Path(one.where).relative_to(folder).as_posix() for one in found.diagnostics)


def there(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def test_what_is_not_written_again_goes_and_what_is_somebody_elses_stays(tmp_path: Path) -> None:
    assert compiled(tmp_path / "out", FIRST) == ()
    (tmp_path / "out" / "mine.c").write_bytes(b"int mine;\n")
    assert compiled(tmp_path / "out", SECOND) == ()
    assert there(tmp_path / "out") == {*SECOND, MANIFEST, "mine.c"}


def test_the_manifest_is_sorted_and_the_same_each_time(tmp_path: Path) -> None:
    compiled(tmp_path / "one", FIRST)
    compiled(tmp_path / "two", dict(reversed(FIRST.items())))
    text = (tmp_path / "one" / MANIFEST).read_bytes()
    assert text == (tmp_path / "two" / MANIFEST).read_bytes()
    assert list(json.loads(text)["files"]) == sorted(FIRST)


def test_what_the_user_changed_is_kept_and_said(tmp_path: Path) -> None:
    compiled(tmp_path, FIRST)
    (tmp_path / "net_weights.S").write_bytes(b"mine now\n")
    assert compiled(tmp_path, SECOND) == ("net_weights.S",)
    assert (tmp_path / "net_weights.S").read_bytes() == b"mine now\n"
    assert compiled(tmp_path, SECOND) == ()


def test_a_folder_with_something_of_the_users_stays(tmp_path: Path) -> None:
    compiled(tmp_path, FIRST)
    (tmp_path / "arduino" / "notes").write_bytes(b"")
    compiled(tmp_path, SECOND)
    assert {"arduino", "arduino/notes"} <= there(tmp_path)
    assert "arduino/src" not in there(tmp_path)


def test_a_file_of_somebody_else_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "net.c").write_bytes(b"int mine;\n")
    with pytest.raises(TilewrightError, match="TW1125") as refused:
        compiled(tmp_path, SECOND)
    assert refused.value.details == ("net.c",)
    assert there(tmp_path) == {"net.c"}
    (tmp_path / "net.c").write_bytes(SECOND["net.c"])  # as it would be written
    assert compiled(tmp_path, SECOND) == ()
    assert there(tmp_path) == {*SECOND, MANIFEST}


def test_what_is_gone_already_is_no_error(tmp_path: Path) -> None:
    compiled(tmp_path, FIRST)
    (tmp_path / "net_weights.S").unlink()
    assert compiled(tmp_path, SECOND) == ()


@pytest.mark.parametrize("text", ["", "[]", '{"files": {}}', "\x00", '{"schema": "x", "files": {"a": 1}}'])
def test_without_a_manifest_that_can_be_read_nothing_goes(tmp_path: Path, text: str) -> None:
    compiled(tmp_path, FIRST)
    (tmp_path / MANIFEST).write_text(text)
    assert compiled(tmp_path, SECOND) == (MANIFEST,)
    assert set(FIRST) <= there(tmp_path)


@pytest.mark.parametrize("name", ["../victim", "/etc/hostname", "link/victim", "./net.c", "a/../../victim"])
def test_a_manifest_cannot_name_what_is_elsewhere(tmp_path: Path, name: str) -> None:
    (tmp_path / "victim").write_bytes(b"")
    compiled(tmp_path / "out", FIRST)
    (tmp_path / "out" / "link").symlink_to(tmp_path)
    manifest = json.loads((tmp_path / "out" / MANIFEST).read_text())
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    (tmp_path / "out" / MANIFEST).write_text(json.dumps({**manifest, "files": {name: empty}}))
    assert leftovers(tmp_path / "out", {"net_weights.c": b"int w;\n"}).stale == ()
