/* The same of `planes` planes of rows; plane strides are bytes from plane to plane. Of targets that declare transfers of
 * three dimensions. */
uint32_t tw_rt_copy_3d(void *dst, const void *src, uint32_t bytes, uint32_t rows, uint32_t planes,
        uint32_t dst_stride, uint32_t src_stride, uint32_t dst_plane, uint32_t src_plane);

