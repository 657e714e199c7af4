/* A tensor of the model as the runtime needs it, and where its bytes are. */
#ifndef ARENITE_TENSOR_PLACE_H
#define ARENITE_TENSOR_PLACE_H

#include "arenite.h"
#include "flat.h"

typedef struct arn_place {
    uint32_t storage; /* FLAT_STORAGE_… */
    uint32_t region;
    uint32_t offset;
} arn_place;

#define ARN_DTYPES 11
extern const uint8_t arn_dtype_bytes[ARN_DTYPES];

/* Bytes of an element, 0 where the type is not known. int4, which has half a byte, is not used by version 1. */
static inline uint32_t arn_element_bytes(uint32_t dtype) {
    return dtype < ARN_DTYPES ? arn_dtype_bytes[dtype] : 0;
}

/* Bytes of the dimensions in `shape` of elements of `element` bytes; 0 where a dimension is below 1, where there are more than
 * ARN_MAX_RANK, or where the product exceeds 2^31 - 1. */
uint32_t arn_shape_bytes(const uint8_t *shape, uint32_t element);

static inline const uint8_t *arn_tensor_table(const arn_model *model, int32_t index) {
    return flat_table_at(model->file + model->tensors, (uint32_t)index);
}

/* Once for every operand at every invocation, hence inline. */
static inline arn_place arn_place_of(const uint8_t *tensor) {
    const uint8_t *vtable = flat_vtable(tensor);
    const uint32_t storage = flat_offset(vtable, FLAT_TENSOR_STORAGE);
    const uint32_t region = flat_offset(vtable, FLAT_TENSOR_REGION);
    const uint32_t offset = flat_offset(vtable, FLAT_TENSOR_OFFSET);
    const arn_place place = {storage != 0 ? tensor[storage] : 0, region != 0 ? tensor[region] : 0,
                             offset != 0 ? flat_u32(tensor + offset) : 0};
    return place;
}

/* `constants`: arn_model.data. */
static inline uint8_t *arn_place_data(const uint8_t *constants, const arn_region *regions, arn_place place) {
    if (place.storage == FLAT_STORAGE_CONSTANT) {
        return (uint8_t *)constants + place.offset;
    }
    uint8_t *base = (uint8_t *)regions[place.region].data;
    return base != NULL ? base + place.offset : NULL;
}

arn_place arn_tensor_place(const uint8_t *tensor);

static inline uint32_t arn_tensor_bytes(const uint8_t *tensor) {
    return arn_shape_bytes(flat_get_vector(tensor, FLAT_TENSOR_SHAPE), arn_element_bytes(flat_get_u8(tensor, FLAT_TENSOR_DTYPE, 0)));
}

/* Where the bytes are; null in a region that has no memory yet. Constants are not to be written. */
uint8_t *arn_tensor_data(const arn_model *model, const arn_region *regions, const uint8_t *tensor);

/* An entry of Model.regions. */
typedef struct arn_region_plan {
    uint32_t size;
    uint32_t alignment;
    uint32_t kind; /* FLAT_REGION_KIND_… */
} arn_region_plan;

#define ARN_REGION_PLAN_BYTES 12

static inline arn_region_plan arn_region_plan_at(const uint8_t *regions, uint32_t index) {
    const uint8_t *at = regions + 4 + ARN_REGION_PLAN_BYTES * index;
    const arn_region_plan plan = {flat_u32(at), flat_u32(at + 4), at[8]};
    return plan;
}

#endif
