/* Inputs, outputs and memory, as the caller sees them. */
#include "tensor_place.h"

static const uint8_t *ports(const arn_model *model, uint32_t field) {
    return flat_get_vector(model->root, field);
}

static int port_count(const arn_model *model, uint32_t field) {
    return model != NULL && model->file != NULL ? (int)flat_length(ports(model, field)) : 0;
}

/* The port at `index`; null if there is none. */
static const uint8_t *port_at(const arn_model *model, uint32_t field, int index) {
    return index >= 0 && index < port_count(model, field) ? flat_table_at(ports(model, field), (uint32_t)index) : NULL;
}

static arn_tensor port_tensor(const arn_session *session, uint32_t field, int index) {
    arn_tensor view;
    memset(&view, 0, sizeof view);
    const uint8_t *port = session != NULL ? port_at(session->model, field, index) : NULL;
    if (port == NULL) {
        return view;
    }
    const uint8_t *tensor = arn_tensor_table(session->model, flat_get_i32(port, FLAT_PORT_TENSOR, 0));
    const uint8_t *shape = flat_get_vector(tensor, FLAT_TENSOR_SHAPE);
    view.data = arn_tensor_data(session->model, session->regions, tensor);
    view.bytes = arn_tensor_bytes(tensor);
    view.shape = (const int32_t *)(const void *)(shape + 4);
    view.rank = (int32_t)flat_length(shape);
    view.dtype = (arn_dtype)flat_get_u8(tensor, FLAT_TENSOR_DTYPE, 0);
    const uint8_t *quantization = flat_get_table(tensor, FLAT_TENSOR_QUANTIZATION);
    if (quantization != NULL) {
        const uint8_t *scale = flat_get_vector(quantization, FLAT_QUANTIZATION_SCALE);
        const uint8_t *zero_point = flat_get_vector(quantization, FLAT_QUANTIZATION_ZERO_POINT);
        if (flat_length(scale) == 1 && flat_length(zero_point) <= 1) {
            memcpy(&view.scale, scale + 4, sizeof view.scale);
            view.zero_point = flat_length(zero_point) == 1 ? flat_i32_at(zero_point, 0) : 0;
        }
    }
    return view;
}

static const char *port_name(const arn_model *model, uint32_t field, int index) {
    const uint8_t *port = port_at(model, field, index);
    const uint8_t *name = port != NULL ? flat_get_table(port, FLAT_PORT_NAME) : NULL;
    return name != NULL ? (const char *)name + 4 : "";
}

/* A tensor may be bound if it is all of a bound region: the caller's memory is then known to be large enough. */
static arn_status bind_port(arn_session *session, uint32_t field, int index, void *data) {
    const uint8_t *port = session != NULL ? port_at(session->model, field, index) : NULL;
    if (port == NULL || data == NULL) {
        return ARN_ERROR_ARGUMENT;
    }
    const uint8_t *tensor = arn_tensor_table(session->model, flat_get_i32(port, FLAT_PORT_TENSOR, 0));
    const arn_place place = arn_tensor_place(tensor);
    if (place.storage != FLAT_STORAGE_REGION) {
        return ARN_ERROR_ARGUMENT;
    }
    const arn_region_plan plan = arn_region_plan_at(flat_get_vector(session->model->root, FLAT_MODEL_REGIONS), place.region);
    if (plan.kind != FLAT_REGION_KIND_BOUND || place.offset != 0 || plan.size != arn_tensor_bytes(tensor)) {
        return ARN_ERROR_ARGUMENT;
    }
    if ((uintptr_t)data % plan.alignment != 0) {
        return ARN_ERROR_ALIGNMENT;
    }
    session->regions[place.region].data = data;
    session->regions[place.region].size = plan.size;
    return ARN_OK;
}

int arn_region_count(const arn_model *model) {
    return port_count(model, FLAT_MODEL_REGIONS);
}

size_t arn_region_bytes(const arn_model *model, int index) {
    if (index < 0 || index >= arn_region_count(model)) {
        return 0;
    }
    const arn_region_plan plan = arn_region_plan_at(flat_get_vector(model->root, FLAT_MODEL_REGIONS), (uint32_t)index);
    return plan.kind == FLAT_REGION_KIND_BOUND ? 0 : plan.size;
}

int arn_input_count(const arn_model *model) {
    return port_count(model, FLAT_MODEL_INPUTS);
}

int arn_output_count(const arn_model *model) {
    return port_count(model, FLAT_MODEL_OUTPUTS);
}

arn_tensor arn_input(const arn_session *session, int index) {
    return port_tensor(session, FLAT_MODEL_INPUTS, index);
}

arn_tensor arn_output(const arn_session *session, int index) {
    return port_tensor(session, FLAT_MODEL_OUTPUTS, index);
}

const char *arn_input_name(const arn_model *model, int index) {
    return port_name(model, FLAT_MODEL_INPUTS, index);
}

const char *arn_output_name(const arn_model *model, int index) {
    return port_name(model, FLAT_MODEL_OUTPUTS, index);
}

arn_status arn_bind_input(arn_session *session, int index, void *data) {
    return bind_port(session, FLAT_MODEL_INPUTS, index, data);
}

arn_status arn_bind_output(arn_session *session, int index, void *data) {
    return bind_port(session, FLAT_MODEL_OUTPUTS, index, data);
}
