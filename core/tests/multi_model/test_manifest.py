"""The file that names several networks: what it says, what is wrong with it, and what each network is made with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.config.options import Options
from tilewright.errors import Exit, TilewrightError
from tilewright.errors.catalogue import catalogue
from tilewright.multi_model.manifest import deployments, read_group
from tilewright.testing.cluster import CLUSTER, registry_for


def test_the_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "app.toml"
    file.write_text(
        'target = "generic"\nconcurrent = [["kws", "vww"]]\n[models]\nkws = "kws.onnx"\nvww = "vww.onnx"\n',
        encoding="utf-8",
    )
    group = read_group(file)
    assert group.name == "app"
    assert group.models == {"kws": tmp_path / "kws.onnx", "vww": tmp_path / "vww.onnx"}
    assert group.concurrent == (("kws", "vww"),)


def test_the_example_that_is_shown_for_its_error_is_read(tmp_path: Path) -> None:
    file = tmp_path / "app.toml"
    file.write_text("\n".join(catalogue()["TW1410"].example), encoding="utf-8")
    group = read_group(file)
    assert (group.target, group.concurrent) == ("cortex-m4", (("quick", "careful"),))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("target = ", "Invalid"),
        ('target = "generic"', "table [models]"),
        ('target = "generic"\ntypo = 1\n[models]\na = "a.onnx"', "'typo' is no key"),
        ('target = "generic"\nconcurrent = [["a", "b"]]\n[models]\na = "a.onnx"', "names 'b'"),
        ('target = "generic"\nconcurrent = [[["a"]]]\n[models]\na = "a.onnx"', "names '['a']'"),
        ('target = "generic"\nconcurrent = ["a"]\n[models]\na = "a.onnx"', "list of lists"),
        ('target = "generic"\n[models]\nint = "a.onnx"', "'int' cannot begin"),
        ('target = "generic"\nname = "a"\n[models]\na = "a.onnx"', "both the group's name and a model's"),
        ('target = "generic"\n[models]\na = "a.onnx"\nA = "b.onnx"', "'a' and 'A' would have the same macros"),
        ('target = "generic"\nname = 3\n[models]\na = "a.onnx"', "it is no text"),
        ('target = "generic"\n[models]\na = { io = {} }', "or a table with a file"),
        ('target = "generic"\n[models]\na = 3', "models.a must be"),
        ('target = "generic"\n[models.a]\nfile = "a.onnx"\nspeed = 1', "no key 'speed'"),
        ('target = "generic"\n[models.a]\nfile = "a.onnx"\nstate = "h:h"', "must be a list"),
        ('target = "generic"\n[models.a]\nfile = "a.onnx"\nio = { x = "mine" }', "pool or user"),
        ('target = "generic"\n[models.a]\nfile = "a.onnx"\npin = ["x"]', "table of names"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, content: str, reason: str) -> None:
    file = tmp_path / "app.toml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(TilewrightError) as caught:
        read_group(file)
    assert (caught.value.code, caught.value.exit_code, caught.value.where) == ("TW1410", Exit.USAGE, str(file))
    assert reason in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TilewrightError, match="TW1410"):
        read_group(tmp_path)


def test_settings_of_one_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.deployment.load_for", lambda **_: registry_for(CLUSTER))
    file = tmp_path / "app.toml"
    file.write_text(
        f'target = "{CLUSTER.name}"\n'
        + '[models.kws]\nfile = "kws.onnx"\nio = { x = "user" }\npin = { "conv*" = "dtcm" }\n'
        'stage = { "fc" = "dtcm,when=use" }\nstate = ["h2:h"]\n',
        encoding="utf-8",
    )
    group = read_group(file)
    assert group.models == {"kws": tmp_path / "kws.onnx"}
    own = group.settings["kws"]
    assert (own.io, own.pin, own.state) == ({"x": "user"}, (("conv*", "dtcm"),), ("h2:h",))
    options = deployments(group, Options(states=("a:b",)), tmp_path)["kws"].options
    assert (options.states, options.io_of, options.states_folder) == (("a:b", "h2:h"), {"x": "user"}, tmp_path)
    assert [rule.when for rule in options.constant_copies] == ["use"]
