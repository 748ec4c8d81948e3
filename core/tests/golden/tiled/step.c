/* Step 0 of 1: Conv
 *   nodes    conv
 *   kernel   portable.conv_f32
 *   tiles    l1: o 2 x 4, h 3 x 3 (6)
 *   X        f32[1,2,8,6]  l2 [1536, 1920)               x
 *   W        f32[8,3,3,2]  flash [48, 624)               conv.W
 *   B        f32[8]        flash [16, 48)                conv.B
 *   Y        f32[1,8,8,6]  l2 [0, 1536)                  conv:0
 *   X        f32[1,2,5,6]  l1 [0, 240), [240, 480)       tile, for each o, h
 *   W        f32[4,3,3,2]  l1 [480, 768)                 tile, for each o
 *   Y        f32[1,4,3,6]  l1 [768, 1056), [1056, 1344)  tile, for each o, h
 */

typedef struct {
    tw_range o;
    tw_range h;
} net_0_conv_box;

/* The trips of tile t. */
static net_0_conv_box net_0_conv_tile(int32_t t)
{
    const net_0_conv_box box = {.o = tw_tile((tw_range){0, 8}, t / 3, 4), .h = tw_tile((tw_range){0, 8}, t % 3, 3)};
    return box;
}

/* Brings X of tile t from l2. */
static void net_0_conv_fetch_x(int32_t t, uint8_t *l2, tw_slot *slot)
{
    const net_0_conv_box box = net_0_conv_tile(t);
    const tw_span x_axis_2 = tw_span_clipped(box.h.low - 1, box.h.high + 1, 8);
    const uint8_t *const far = l2 + IN_X + (24 * x_axis_2.low);
    tw_transfer(slot, slot->bytes, far, 24 * x_axis_2.extent, 2, 120, 192);
}

/* Brings W of tile t from flash. */
static void net_0_conv_fetch_w(int32_t t, const uint8_t *flash, tw_slot *slot)
{
    const net_0_conv_box box = net_0_conv_tile(t);
    const tw_span w_axis_0 = tw_span_inside(box.o.low, box.o.high);
    const uint8_t *const far = flash + CONV_0_W + (72 * w_axis_0.low);
    tw_transfer(slot, slot->bytes, far, 288, 1, 0, 0);
}

/* Takes Y of tile t to l2. */
static void net_0_conv_store_y(int32_t t, uint8_t *l2, tw_slot *slot)
{
    const net_0_conv_box box = net_0_conv_tile(t);
    const tw_span y_axis_1 = tw_span_inside(box.o.low, box.o.high);
    const tw_span y_axis_2 = tw_span_inside(box.h.low, box.h.high);
    uint8_t *const far = l2 + CONV_0_OUT + (192 * y_axis_1.low) + (24 * y_axis_2.low);
    tw_transfer(slot, far, slot->bytes, 24 * y_axis_2.extent, 4, 192, 72);
}

/* Computes this core's share of tile t, along loop w. */
static void net_0_conv_compute(int32_t t, const uint8_t *x, const uint8_t *w, const uint8_t *flash, uint8_t *y)
{
    const net_0_conv_box box = net_0_conv_tile(t);
    const tw_range mine = tw_share((tw_range){0, 6}, 1);
    if (mine.low < mine.high) {
        const tw_span x_axis_2 = tw_span_clipped(box.h.low - 1, box.h.high + 1, 8);
        const tw_span x_axis_3 = tw_span_clipped(mine.low - 1, mine.high + 1, 6);
        const tw_span b_axis_0 = tw_span_inside(box.o.low, box.o.high);
        const tw_span y_axis_1 = tw_span_inside(box.o.low, box.o.high);
        const tw_span y_axis_2 = tw_span_inside(box.h.low, box.h.high);
        const tw_span y_axis_3 = tw_span_inside(mine.low, mine.high);
        const float *const my_x = (const float *)(x + (4 * x_axis_3.low));
        const float *const my_w = (const float *)w;
        const float *const my_b = (const float *)(flash + CONV_0_B + (4 * b_axis_0.low));
        float *const my_y = (float *)(y + (4 * y_axis_3.low));
        tw_conv_f32((tw_conv){
            .batches = 1, .outputs = y_axis_1.extent, .group_inputs = 2, .group_outputs = 8,
            .first_output = y_axis_1.low, .x_batch = 60, .x_channel = 30, .y_batch = 72, .y_channel = 18,
            .w_output = 18, .w_channel = 1,
            .depth = {.outputs = 1, .inputs = 1, .taps = 1, .stride = 1, .dilation = 1, .counted = 1},
            .row = {.outputs = y_axis_2.extent, .inputs = x_axis_2.extent, .taps = 3, .stride = 1, .dilation = 1,
                .before = x_axis_2.before, .counted = 9 - x_axis_2.low, .x_step = 6, .y_step = 6, .w_step = 6},
            .column = {.outputs = y_axis_3.extent, .inputs = x_axis_3.extent, .taps = 3, .stride = 1, .dilation = 1,
                .before = x_axis_3.before, .counted = 7 - x_axis_3.low, .x_step = 1, .y_step = 1, .w_step = 2},
            .low = -INFINITY, .high = INFINITY,
        }, my_x, my_w, my_b, my_y);
        tw_charge(444u, (box.o.high - box.o.low) * (box.h.high - box.h.low) * (mine.high - mine.low), 12);
    }
}

TW_STEP void net_0_conv(const uint8_t *flash, uint8_t *l1, uint8_t *l2)
{
    tw_queue copies = {.started = 0};
    tw_slot x[2] = {{.bytes = l1 + CONV_0_X_L1_0, .queue = &copies}, {.bytes = l1 + CONV_0_X_L1_1, .queue = &copies}};
    tw_slot w[1] = {{.bytes = l1 + CONV_0_W_L1_0, .queue = &copies}};
    tw_slot y[2] = {{.bytes = l1 + CONV_0_Y_L1_0, .queue = &copies}, {.bytes = l1 + CONV_0_Y_L1_1, .queue = &copies}};
    if (tw_rt_is_dma_core()) {
        net_0_conv_fetch_x(0, l2, &x[0]);
        net_0_conv_fetch_w(0, flash, &w[0]);
    }
    for (int32_t t = 0; t < 6; ++t) {
        if (tw_rt_is_dma_core()) {
            tw_arrived(&x[t % 2]);
            if ((t % 3) == 0) {
                tw_arrived(&w[0]);
            }
            tw_arrived(&y[t % 2]);
        }
        tw_rt_barrier();
        if (tw_rt_is_dma_core()) {
            if ((t + 1) < 6) {
                net_0_conv_fetch_x(t + 1, l2, &x[(t + 1) % 2]);
            }
        }
        net_0_conv_compute(t, x[t % 2].bytes, w[0].bytes, flash, y[t % 2].bytes);
        tw_rt_barrier();
        if (tw_rt_is_dma_core()) {
            if ((((t + 1) % 3) == 0) && ((t + 3) < 6)) {
                net_0_conv_fetch_w(t + 3, flash, &w[0]);
            }
            net_0_conv_store_y(t, l2, &y[t % 2]);
        }
    }
    if (tw_rt_is_dma_core()) {
        tw_arrived(&y[0]);
        tw_arrived(&y[1]);
    }
}
