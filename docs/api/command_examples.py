# %% before all examples
import click
from click.testing import CliRunner

from tilewright.api.command import Command


# %% Command
# `tilewright acme-macs MODEL`. What it needs is imported when somebody types its name.
def load() -> click.Command:
    @click.command("acme-macs")
    @click.argument("model")
    def macs(model: str) -> None:
        """Multiply-accumulates of MODEL."""
        from tilewright.api.deployment import Deployment

        click.echo(f"{Deployment(model, 'generic').number_of_ops:,}")

    return macs


command = Command(name="acme-macs", summary="multiply-accumulates of a model", load=load)
assert CliRunner().invoke(command.load(), ["digits_int8.onnx"]).output == "23,680\n"
