"""The file that is added, and that no other is touched."""

import tilewright


def test_sizes_of_all_memories_are_in_the_file(network):
    compiled = tilewright.compile(network, "generic", name="network", emit=["${name}"])
    text = compiled.files["${name}.ld"].decode()
    assert f"tw_ram_size = {compiled.memory['ram'].used_bytes};" in text
    assert len(text.splitlines()) == len(compiled.report.data["pools"])
