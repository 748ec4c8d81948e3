/* y = min(max(x, low), high), element by element; NaN stays NaN (ONNX Clip and Relu). */
TW_KERNEL void tw_clip_f32(int32_t count, float low, float high, const float *x, float *y)
{
    for (int32_t i = 0; i < count; ++i) {
        const float v = x[i];
        y[i] = v < low ? low : (v > high ? high : v);
    }
}
