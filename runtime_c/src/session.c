/* Sessions: a model is bound to kernels and memory, then run. arn_session_init verifies all that arn_model_open could not know;
 * afterwards nothing is checked any more. */
#include "arenite_profile.h"
#include "arenite_resolver.h"
#include "input_check.h"
#include "tensor_place.h"

/* What a node needs to run. Its fields have been verified. */
typedef struct node_view {
    uint32_t op;
    uint32_t variant;
    const uint8_t *inputs;
    const uint8_t *outputs;
    const uint8_t *params;
    int32_t scratch;
} node_view;

static inline const uint8_t *vector_of(const uint8_t *node, const uint8_t *vtable, uint32_t number) {
    const uint32_t offset = flat_offset(vtable, number);
    return offset != 0 ? flat_follow(node, offset) : flat_get_vector(node, number);
}

static inline node_view view_of(const uint8_t *node) {
    const uint8_t *vtable = flat_vtable(node);
    const uint32_t op = flat_offset(vtable, FLAT_NODE_OP), variant = flat_offset(vtable, FLAT_NODE_VARIANT);
    const uint32_t scratch = flat_offset(vtable, FLAT_NODE_SCRATCH);
    node_view view;
    view.op = op != 0 ? flat_u16(node + op) : 0;
    view.variant = variant != 0 ? flat_u16(node + variant) : 0;
    view.inputs = vector_of(node, vtable, FLAT_NODE_INPUTS);
    view.outputs = vector_of(node, vtable, FLAT_NODE_OUTPUTS);
    view.params = vector_of(node, vtable, FLAT_NODE_PARAMS);
    view.scratch = scratch != 0 ? flat_i32(node + scratch) : -1;
    return view;
}

static const arn_kernel *find_kernel(const arn_resolver *resolver, uint32_t op, uint32_t variant) {
    for (int32_t i = 0; i < resolver->count; i++) {
        const arn_kernel *kernel = resolver->kernels[i];
        if (kernel->op == op && kernel->variant == variant) {
            return kernel;
        }
    }
    return NULL;
}

static arn_status check_regions(const arn_model *model, const arn_region *given, int32_t count) {
    const uint8_t *regions = flat_get_vector(model->root, FLAT_MODEL_REGIONS);
    for (uint32_t i = 0; i < flat_length(regions); i++) {
        const arn_region_plan plan = arn_region_plan_at(regions, i);
        if ((int32_t)i >= count) {
            return ARN_ERROR_MEMORY;
        }
        if (given[i].data == NULL) {
            if (plan.kind != FLAT_REGION_KIND_BOUND && plan.size > 0) {
                return ARN_ERROR_MEMORY;
            }
            continue;
        }
        if (given[i].size < plan.size) {
            return ARN_ERROR_MEMORY;
        }
        if ((uintptr_t)given[i].data % plan.alignment != 0) {
            return ARN_ERROR_ALIGNMENT;
        }
    }
    return ARN_OK;
}

static arn_operand operand(const arn_model *model, const arn_region *regions, int32_t index) {
    arn_operand v = {NULL, 0, ARN_NONE};
    if (index >= 0) {
        const uint8_t *tensor = arn_tensor_table(model, index);
        v.bytes = arn_tensor_bytes(tensor);
        v.dtype = (arn_dtype)flat_get_u8(tensor, FLAT_TENSOR_DTYPE, 0);
        if (arn_tensor_place(tensor).storage != FLAT_STORAGE_REGION) {
            v.constant = arn_tensor_data(model, regions, tensor);
        }
    }
    return v;
}

static arn_status check_node(const arn_model *model, const arn_resolver *resolver, const arn_region *regions, const uint8_t *nodes,
                             uint32_t at) {
    const uint8_t *node = flat_table_at(nodes, at);
    const node_view view = view_of(node);
    const arn_kernel *kernel = find_kernel(resolver, view.op, view.variant);
    if (kernel == NULL) {
        return ARN_ERROR_OPERATOR;
    }
    const uint8_t *inputs = view.inputs, *outputs = view.outputs, *params = view.params;
    if (flat_length(inputs) != kernel->inputs || flat_length(outputs) != kernel->outputs || flat_length(params) < kernel->params) {
        return ARN_ERROR_CORRUPT;
    }
    arn_signature signature;
    memset(&signature, 0, sizeof signature);
    signature.params = params + 4;
    signature.before = at;
    signature.behind = flat_length(nodes) - 1 - at;
    for (uint32_t i = 0; i < kernel->inputs; i++) {
        signature.inputs[i] = operand(model, regions, flat_i32_at(inputs, i));
    }
    for (uint32_t i = 0; i < kernel->outputs; i++) {
        signature.outputs[i] = operand(model, regions, flat_i32_at(outputs, i));
        if (signature.outputs[i].constant != NULL) {
            return ARN_ERROR_CORRUPT;
        }
    }
    signature.scratch = operand(model, regions, view.scratch);
    return signature.scratch.constant == NULL && kernel->check(&signature) ? ARN_OK : ARN_ERROR_CORRUPT;
}

/* A state's two tensors have the same size and are apart; its initial value is a constant of that size. */
static int check_state(const arn_model *model, const uint8_t *state) {
    const uint8_t *output = arn_tensor_table(model, flat_get_i32(state, FLAT_STATE_OUTPUT, 0));
    const uint8_t *input = arn_tensor_table(model, flat_get_i32(state, FLAT_STATE_INPUT, 0));
    const int32_t initial = flat_get_i32(state, FLAT_STATE_INITIAL, -1);
    const uint32_t bytes = arn_tensor_bytes(input);
    const arn_place from = arn_tensor_place(output), to = arn_tensor_place(input);
    if (to.storage != FLAT_STORAGE_REGION || arn_tensor_bytes(output) != bytes) {
        return 0;
    }
    if (from.storage == to.storage && from.region == to.region && from.offset < to.offset + bytes && to.offset < from.offset + bytes) {
        return 0;
    }
    if (initial >= 0) {
        const uint8_t *constant = arn_tensor_table(model, initial);
        return arn_tensor_place(constant).storage != FLAT_STORAGE_REGION && arn_tensor_bytes(constant) == bytes;
    }
    return 1;
}

arn_status arn_session_init(arn_session *session, const arn_model *model, const arn_resolver *resolver, arn_region regions[],
                            int region_count) {
    if (session == NULL) {
        return ARN_ERROR_ARGUMENT;
    }
    memset(session, 0, sizeof *session);
    if (model == NULL || model->file == NULL || resolver == NULL || regions == NULL) {
        return ARN_ERROR_ARGUMENT;
    }
    arn_status status = check_regions(model, regions, region_count);
    if (status != ARN_OK) {
        return status;
    }
    if (resolver->constants_loaded != NULL) {
        status = resolver->constants_loaded(model, regions, region_count);
        if (status != ARN_OK) {
            return status;
        }
    }
    const uint8_t *nodes = model->file + model->nodes;
    for (uint32_t i = 0; i < flat_length(nodes); i++) {
        status = check_node(model, resolver, regions, nodes, i);
        if (status != ARN_OK) {
            return status;
        }
    }
    const uint8_t *states = flat_get_vector(model->root, FLAT_MODEL_STATES);
    for (uint32_t i = 0; i < flat_length(states); i++) {
        if (!check_state(model, flat_table_at(states, i))) {
            return ARN_ERROR_CORRUPT;
        }
    }
    session->model = model;
    session->resolver = resolver;
    session->regions = regions;
    session->region_count = region_count;
    status = arn_session_reset(session);
    return status == ARN_ERROR_MEMORY ? ARN_OK : status; /* a state in memory to be bound later is reset by its owner */
}

arn_status arn_session_reset(arn_session *session) {
    if (session == NULL || session->model == NULL) {
        return ARN_ERROR_ARGUMENT;
    }
    const arn_model *model = session->model;
    const uint8_t *states = flat_get_vector(model->root, FLAT_MODEL_STATES);
    for (uint32_t i = 0; i < flat_length(states); i++) {
        const uint8_t *state = flat_table_at(states, i);
        const uint8_t *input = arn_tensor_table(model, flat_get_i32(state, FLAT_STATE_INPUT, 0));
        const int32_t initial = flat_get_i32(state, FLAT_STATE_INITIAL, -1);
        uint8_t *data = arn_tensor_data(model, session->regions, input);
        if (data == NULL) {
            return ARN_ERROR_MEMORY;
        }
        if (initial >= 0) {
            memcpy(data, arn_tensor_data(model, session->regions, arn_tensor_table(model, initial)), arn_tensor_bytes(input));
            continue;
        }
        int zero = 0;
        const uint8_t *quantization = flat_get_table(input, FLAT_TENSOR_QUANTIZATION);
        if (quantization != NULL && arn_element_bytes(flat_get_u8(input, FLAT_TENSOR_DTYPE, 0)) == 1) {
            const uint8_t *zero_point = flat_get_vector(quantization, FLAT_QUANTIZATION_ZERO_POINT);
            zero = flat_length(zero_point) == 1 ? flat_i32_at(zero_point, 0) : 0;
        }
        memset(data, zero, arn_tensor_bytes(input));
    }
    return ARN_OK;
}

static void keep_states(const arn_model *model, const arn_region *regions) {
    const uint8_t *states = flat_get_vector(model->root, FLAT_MODEL_STATES);
    for (uint32_t i = 0; i < flat_length(states); i++) {
        const uint8_t *state = flat_table_at(states, i);
        const uint8_t *input = arn_tensor_table(model, flat_get_i32(state, FLAT_STATE_INPUT, 0));
        const uint8_t *output = arn_tensor_table(model, flat_get_i32(state, FLAT_STATE_OUTPUT, 0));
        memcpy(arn_tensor_data(model, regions, input), arn_tensor_data(model, regions, output), arn_tensor_bytes(input));
    }
}

/* `tensors` and `constants` are those of the model, which the compiler would read anew for every operand. */
static inline void *operand_data(const uint8_t *tensors, const uint8_t *constants, const arn_region *regions, int32_t index) {
    if (index < 0) {
        return NULL;
    }
    const arn_place place = arn_place_of(flat_table_at(tensors, (uint32_t)index));
    return arn_place_data(constants, regions, place);
}

arn_status arn_invoke(arn_session *session) {
    if (session == NULL || session->model == NULL) {
        return ARN_ERROR_ARGUMENT;
    }
    const arn_model *model = session->model;
    const arn_region *regions = session->regions;
    const uint8_t *plans = flat_get_vector(model->root, FLAT_MODEL_REGIONS);
    for (uint32_t i = 0; i < flat_length(plans); i++) {
        if (regions[i].data == NULL && arn_region_plan_at(plans, i).size > 0) {
            return ARN_ERROR_MEMORY; /* a bound one that has not been */
        }
    }
    ARN_COUNT_INPUTS(session);
    const uint8_t *nodes = model->file + model->nodes, *tensors = model->file + model->tensors, *constants = model->data;
    const arn_kernel *kernel = NULL; /* that of the node before: layers of a kind often come in a row */
    for (uint32_t i = 0; i < flat_length(nodes); i++) {
        const node_view node = view_of(flat_table_at(nodes, i));
        if (kernel == NULL || kernel->op != node.op || kernel->variant != node.variant) {
            kernel = find_kernel(session->resolver, node.op, node.variant);
        }
        int32_t jump = 0;
        arn_call call;
        call.jump = &jump;
        call.params = node.params + 4;
        for (uint32_t j = 0; j < kernel->inputs; j++) {
            call.inputs[j] = operand_data(tensors, constants, regions, flat_i32_at(node.inputs, j));
        }
        for (uint32_t j = 0; j < kernel->outputs; j++) {
            call.outputs[j] = operand_data(tensors, constants, regions, flat_i32_at(node.outputs, j));
        }
        call.scratch = operand_data(tensors, constants, regions, node.scratch);
        ARN_LAYER((int32_t)i);
        kernel->invoke(&call);
        ARN_LAYER(ARN_NO_LAYER);
        i += (uint32_t)jump;
    }
    keep_states(model, regions);
    return ARN_OK;
}
