/* Tiles: which trips of its loops a tile runs, which part of an operand that touches, and its transfers. */
typedef struct {
    int32_t low, high; /* trips low .. high - 1 */
} tw_range;

typedef struct {
    int32_t low, extent; /* positions of one axis */
    int32_t before, after; /* positions outside it, where padding is read */
} tw_span;
