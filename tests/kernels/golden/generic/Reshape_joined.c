/* Step 0 of 1: Reshape
 *   nodes    reshape_joined_0
 *   kernel   portable.reshape
 *   X        f32[9,14,22]  ram [0, 11088)      reshape_joined_0_in0
 *   Y        f32[9,308]    ram [11088, 22176)  reshape_joined_0_out0
 */
TW_STEP void net_0_reshape(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_RESHAPE_JOINED_0_IN0);
    float *const y = (float *)(ram + RESHAPE_0_OUT);
    memcpy(y, x, 11088u);
}
