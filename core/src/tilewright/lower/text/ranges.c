/* Tiles: which trips of its loops a tile runs, which part of an operand that touches, and its transfers. */
typedef struct {
    /* trips low .. high - 1 */
    int32_t low;
    int32_t high;
} tw_range;

typedef struct {
    /* positions of one axis */
    int32_t low;
    int32_t extent;
    /* positions outside it, where padding is read */
    int32_t before;
    int32_t after;
} tw_span;
