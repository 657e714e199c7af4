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

arn_place arn_tensor_place(const uint8_t *tensor) {
    return arn_place_of(tensor);
}

uint8_t *arn_tensor_data(const arn_model *model, const arn_region *regions, const uint8_t *tensor) {
    return arn_place_data(model->data, regions, arn_place_of(tensor));
}
