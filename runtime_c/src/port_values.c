/* float32 values to and from an input or output, docs/numerics.md §1: by the kernels, so that the results are the same. A file of its
 * own: whoever feeds int8 does not link it. */
#include <string.h>

#include "arenite.h"
#include "arn_kernels.h"

/* 1 if `count` elements of one byte fit the tensor and its scale can be divided by. `zero_point` becomes the int8 one. */
static arn_status check_values(const arn_tensor *tensor, const void *values, size_t count, int32_t *zero_point) {
    if (tensor == NULL || tensor->data == NULL || values == NULL) {
        return ARN_ERROR_ARGUMENT;
    }
    const size_t element = tensor->dtype == ARN_FLOAT32 ? sizeof(float) : 1;
    if (count > tensor->bytes / element) {
        return ARN_ERROR_ARGUMENT;
    }
    if (tensor->dtype == ARN_FLOAT32) {
        return ARN_OK;
    }
    if (tensor->dtype != ARN_INT8 && tensor->dtype != ARN_UINT8) {
        return ARN_ERROR_UNSUPPORTED;
    }
    *zero_point = tensor->zero_point;
    if (tensor->dtype == ARN_UINT8) {
        if (*zero_point < 0 || *zero_point > 255) {
            return ARN_ERROR_UNSUPPORTED;
        }
        *zero_point -= 128;
    }
    uint32_t scale; /* as bits: positive and finite, without float comparisons */
    memcpy(&scale, &tensor->scale, sizeof scale);
    const int usable = scale - 1 < 0x7f7fffff && *zero_point >= -128 && *zero_point <= 127;
    return usable ? ARN_OK : ARN_ERROR_UNSUPPORTED;
}

arn_status arn_quantize_input(const arn_tensor *tensor, const float *values, size_t count) {
    int32_t zero_point = 0;
    const arn_status status = check_values(tensor, values, count, &zero_point);
    if (status != ARN_OK) {
        return status;
    }
    if (tensor->dtype == ARN_FLOAT32) {
        memcpy(tensor->data, values, count * sizeof(float));
        return ARN_OK;
    }
    const arn_quantize_params params = {(int32_t)count, tensor->scale, zero_point};
    arn_quantize_f32_s8(&params, values, (int8_t *)tensor->data);
    if (tensor->dtype == ARN_UINT8) {
        uint8_t *data = (uint8_t *)tensor->data;
        for (size_t i = 0; i < count; i++) {
            data[i] ^= 0x80;
        }
    }
    return ARN_OK;
}

arn_status arn_dequantize_output(const arn_tensor *tensor, float *values, size_t count) {
    int32_t zero_point = 0;
    const arn_status status = check_values(tensor, values, count, &zero_point);
    if (status != ARN_OK) {
        return status;
    }
    if (tensor->dtype == ARN_FLOAT32) {
        memcpy(values, tensor->data, count * sizeof(float));
        return ARN_OK;
    }
    if (tensor->dtype == ARN_INT8) {
        const arn_dequantize_params params = {(int32_t)count, tensor->scale, zero_point};
        arn_dequantize_s8_f32(&params, (const int8_t *)tensor->data, values);
        return ARN_OK;
    }
    const uint8_t *data = (const uint8_t *)tensor->data;
    for (size_t i = 0; i < count; i++) {
        values[i] = tensor->scale * (float)(data[i] - tensor->zero_point);
    }
    return ARN_OK;
}
