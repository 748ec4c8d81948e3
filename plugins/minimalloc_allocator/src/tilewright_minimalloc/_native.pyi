def prepare(
    capacity: int,
    sections: int,
    sizes: bytes,
    aligns: bytes,
    section_starts: bytes,
    sections_of_blocks: bytes,
    obstacle_starts: bytes,
    obstacles: bytes,
    twins: bytes,
    /,
) -> object: ...
def run(search: object, selector: int, rank: bytes, limit: int, /) -> tuple[int, int, bytes]: ...
