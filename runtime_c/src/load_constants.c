/* Constants in RAM: a region for them is external, and a constant of the file that names it is what it holds at first. */
#include "tensor_place.h"

/* Copies them, or says whether that has been done. */
static arn_status go_through(const arn_model *model, const arn_region regions[], int region_count, int is_copying) {
    if (model == NULL || model->file == NULL || regions == NULL) {
        return ARN_ERROR_ARGUMENT;
    }
    const uint8_t *tensors = model->file + model->tensors;
    for (uint32_t i = 0; i < flat_length(tensors); i++) {
        const uint8_t *tensor = flat_table_at(tensors, i);
        const arn_place place = arn_tensor_place(tensor);
        /* Opening verifies a constant's bytes, but not its region, which means nothing for most. */
        if (place.storage != FLAT_STORAGE_CONSTANT || place.region == 0 || (int)place.region >= arn_region_count(model)) {
            continue;
        }
        const arn_region_plan plan = arn_region_plan_at(flat_get_vector(model->root, FLAT_MODEL_REGIONS), place.region);
        if (plan.kind != FLAT_REGION_KIND_EXTERNAL) {
            continue;
        }
        const uint32_t bytes = arn_tensor_bytes(tensor);
        if (bytes != plan.size) {
            return ARN_ERROR_CORRUPT;
        }
        if ((int)place.region >= region_count || regions[place.region].data == NULL || regions[place.region].size < bytes) {
            return ARN_ERROR_MEMORY;
        }
        uint8_t *const held = regions[place.region].data, *const stored = arn_tensor_data(model, regions, tensor);
        if (is_copying) {
            memcpy(held, stored, bytes);
        } else if (memcmp(held, stored, bytes) != 0) {
            return ARN_ERROR_NOT_LOADED;
        }
    }
    return ARN_OK;
}

arn_status arn_load_constants(const arn_model *model, const arn_region regions[], int region_count) {
    return go_through(model, regions, region_count, 1);
}

arn_status arn_constants_loaded(const arn_model *model, const arn_region regions[], int region_count) {
    return go_through(model, regions, region_count, 0);
}
