# ${name}

The target `${name}` of [tilewright](https://tilewright.dev): ${summary[0].lower() + summary[1:]}.

```sh
pip install -e ".[test]"
${pytest}
tilewright check model.onnx --target ${name} --layers
tilewright validate model.onnx --target ${name}
```

Everything here works as it is, on a machine that does not exist. Change it into yours, file by file, and keep the tests green:

| file | what it says | what to change |
|---|---|---|
| `src/${module}/machine.py` | memories${", copies" if dma else ""} and engines | sizes, speeds${", what one transfer may be" if dma else ""} |
| `src/${module}/kernels.py`, `relu.h` | a kernel for the cores | the operators that matter, in the C of your cores |
% if engine:
| `src/${module}/engine.py`, `engine.h` | a fully connected layer on an engine that starts and is waited for | what the engine computes, how it is packed, its registers |
% endif
% if simulator:
| `src/${module}/simulator.py`${", `runtime.c`" if dma else ""} | a runner: `tilewright validate --on ${name}-sim` | your compiler, your simulator |
% endif
| `tests/` | whole networks, and that the kernels are chosen | your layers |

`pytest --tilewright-target ${name}` runs every kernel of the package on every layer that it takes: whole, in tiles, in the layouts
that it asks for, on memory that is poisoned. An operator without a kernel is portable C, so nothing is missing on the first day.

`tox` tests on every Python; `tox -e next` with the tilewright that is to be released next.
`.github/workflows/test.yml` does both every week. How names of tilewright are kept and retired:
<https://tilewright.dev/howto/stability>.
