/* Whether inputs are what the model was calibrated for: empty but in builds that define ARN_CHECK_INPUTS. */
#include "input_check.h"

#if defined(ARN_CHECK_INPUTS)

#include "tensor_place.h"

/* A float field of a port, as arn_model_open has verified it. */
static float real_field(const uint8_t *port, uint32_t number, float absent) {
    const uint8_t *field = flat_field(port, number);
    float value = absent;
    if (field != NULL) {
        memcpy(&value, field, sizeof value);
    }
    return value;
}

void arn_count_inputs(arn_session *session) {
    const uint8_t *ports = flat_get_vector(session->model->root, FLAT_MODEL_INPUTS);
    for (uint32_t i = 0; i < flat_length(ports) && i < ARN_CHECKED_INPUTS; i++) {
        const uint8_t *port = flat_table_at(ports, i);
        const arn_tensor tensor = arn_input(session, (int)i);
        arn_input_form form = {(int32_t)tensor.dtype, 0, tensor.scale, tensor.zero_point, 0.0f, 0.0f};
        form.elements = (uint32_t)tensor.bytes / arn_element_bytes((uint32_t)tensor.dtype);
        form.expected_min = real_field(port, FLAT_PORT_EXPECTED_MIN, 1.0f);
        form.expected_max = real_field(port, FLAT_PORT_EXPECTED_MAX, -1.0f);
        arn_count_input(&form, tensor.data, &session->counts[i]);
    }
}

arn_status arn_input_check(arn_session *session, int index, arn_input_counts *counts) {
    if (session == NULL || counts == NULL || index < 0 || index >= arn_input_count(session->model)) {
        return ARN_ERROR_ARGUMENT;
    }
    if (index >= ARN_CHECKED_INPUTS) {
        return ARN_ERROR_UNSUPPORTED;
    }
    *counts = session->counts[index];
    memset(&session->counts[index], 0, sizeof session->counts[index]);
    return ARN_OK;
}

#endif
