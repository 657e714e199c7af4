/* The body of an elementwise operator on two broadcast int8 operands with MVE, four elements at a time. The source that includes it defines
 *     KERNEL   its name
 *     PARAMS   its record
 *     int32x4_t constant(const PARAMS *p)                                              what does not depend on the elements
 *     int32x4_t combine(const PARAMS *p, int32x4_t constant, int32x4_t a, int32x4_t b) results before they are limited */

/* Four elements, or those that `lanes` names. */
static inline int32x4_t elements(const int8_t *from, int32_t step, uint32x4_t offsets, mve_pred16_t lanes) {
    return step == 1 ? vldrbq_z_s32(from, lanes) : vldrbq_gather_offset_z_s32(from, offsets, lanes);
}

static inline int32x4_t limited(int32x4_t v, int32x4_t min, int32x4_t max) {
    return vminq_s32(vmaxq_s32(v, min), max);
}

void KERNEL(const PARAMS *params, const int8_t *a, const int8_t *b, int8_t *y) {
    const PARAMS copy = *params, *p = &copy; /* y is char, and might alias it */
    const int32_t count = p->dims[ARN_MAX_DIMS - 1];
    const int32_t a_step = p->a_stride[ARN_MAX_DIMS - 1];
    const int32_t b_step = p->b_stride[ARN_MAX_DIMS - 1];
    const int joined = a_step == 1 && b_step == 1;
    const int32x4_t same = constant(p), min = vdupq_n_s32(p->activation_min), max = vdupq_n_s32(p->activation_max);
    const uint32x4_t places = vidupq_n_u32(0, 1);
    const uint32x4_t a_offsets = vmulq_n_u32(places, (uint32_t)a_step), b_offsets = vmulq_n_u32(places, (uint32_t)b_step);
    arn_walk walk = arn_walk_start(p->dims, p->a_stride, p->b_stride);
    do {
        const int8_t *from_a = a + walk.offset[0];
        const int8_t *from_b = b + walk.offset[1];
        int32_t left = count;
        if (joined) {
            for (int32_t i = left >> 2; i > 0; i--, from_a += 4, from_b += 4, y += 4) {
                vstrbq_s32(y, limited(combine(p, same, vldrbq_s32(from_a), vldrbq_s32(from_b)), min, max));
            }
            left &= 3;
        }
        for (; left > 0; left -= 4, from_a += 4 * a_step, from_b += 4 * b_step) {
            const mve_pred16_t lanes = vctp32q((uint32_t)left);
            const int32x4_t u = elements(from_a, a_step, a_offsets, lanes);
            const int32x4_t v = elements(from_b, b_step, b_offsets, lanes);
            vstrbq_p_s32(y, limited(combine(p, same, u, v), min, max), lanes);
            y += left < 4 ? left : 4;
        }
    } while (arn_walk_next(&walk));
}
