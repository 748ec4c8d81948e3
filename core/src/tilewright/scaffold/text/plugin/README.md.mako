# ${name}

<%
    use = {
        "allocator": f"tilewright check model.onnx --target generic --allocator {name}",
        "tiler": f"tilewright check model.onnx --target generic --tiler {name}",
        "pass": "tilewright check model.onnx --target generic --json - | grep repeated-clips",
        "runner": f"tilewright validate model.onnx --target generic --on {name}",
        "importer": f"tilewright check model.{module} --target generic",
        "exporter": f"tilewright compile model.onnx --target generic --emit {name} -o out",
    }[kind]
    page = {"pass": "graph-passes"}.get(kind, f"{kind}s")
%>\
${"An" if kind[0] in "aeiou" else "A"} ${"graph pass" if kind == "pass" else kind} for [tilewright](https://tilewright.dev): ${summary[0].lower() + summary[1:]}.

```sh
pip install -e ".[test]"
${pytest}
${use}
```

Everything here works as it is. Change `src/${module}/__init__.py` into what you need, and keep the tests green. The entry point in
`pyproject.toml` is the announcement: a thing that is not announced there is not known, and `tilewright plugins doctor` says so.
<https://tilewright.dev/howto/${page}> has the contract.

`tox` tests on every Python; `tox -e next` with the tilewright that is to be released next.
`.github/workflows/test.yml` does both every week. How names of tilewright are kept and retired:
<https://tilewright.dev/howto/stability>.
