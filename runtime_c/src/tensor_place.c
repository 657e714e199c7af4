#include "tensor_place.h"

const uint8_t arn_dtype_bytes[ARN_DTYPES] = {0, 1, 1, 2, 4, 8, 4, 1, 0, 2, 4};

uint32_t arn_shape_bytes(const uint8_t *shape, uint32_t element) {
    const uint32_t rank = flat_length(shape);
    if (rank > ARN_MAX_RANK) {
        return 0;
    }
    uint64_t bytes = element;
    for (uint32_t i = 0; i < rank; i++) {
        const int32_t dim = flat_i32_at(shape, i);
        bytes *= (uint32_t)(dim < 0 ? 0 : dim);
        if (bytes > INT32_MAX) {
            return 0;
        }
    }
    return (uint32_t)bytes;
}

/* Once for every operand at every invocation: one look at the vtable, not one a field. */
arn_place arn_tensor_place(const uint8_t *tensor) {
    const uint8_t *vtable = tensor - flat_i32(tensor);
    arn_place place = {0, 0, 0};
    if (flat_u16(vtable) > 4 + 2 * FLAT_TENSOR_OFFSET) { /* all three have entries; 0 says default, and defaults are 0 */
        const uint32_t storage = flat_u16(vtable + 4 + 2 * FLAT_TENSOR_STORAGE);
        const uint32_t region = flat_u16(vtable + 4 + 2 * FLAT_TENSOR_REGION);
        const uint32_t offset = flat_u16(vtable + 4 + 2 * FLAT_TENSOR_OFFSET);
        place.storage = storage != 0 ? tensor[storage] : 0;
        place.region = region != 0 ? tensor[region] : 0;
        place.offset = offset != 0 ? flat_u32(tensor + offset) : 0;
    } else {
        place.storage = flat_get_u8(tensor, FLAT_TENSOR_STORAGE, 0);
        place.region = flat_get_u8(tensor, FLAT_TENSOR_REGION, 0);
    }
    return place;
}

uint8_t *arn_tensor_data(const arn_model *model, const arn_region *regions, const uint8_t *tensor) {
    const arn_place place = arn_tensor_place(tensor);
    if (place.storage == FLAT_STORAGE_CONSTANT) {
        return (uint8_t *)model->data + place.offset;
    }
    uint8_t *base = (uint8_t *)regions[place.region].data;
    return base != NULL ? base + place.offset : NULL;
}
