/* Opening: every structure of the file is verified once, so that nothing afterwards needs to be. Iterative: the schema's tables nest
 * to a fixed depth. What concerns kernels and regions is verified by arn_session_init. */
#include "tensor_place.h"

#define ARRAY_LENGTH(a) ((uint32_t)sizeof(a))

static const uint8_t MODEL[] = {
    [FLAT_MODEL_VERSION] = 4,
    [FLAT_MODEL_FILE_SIZE] = 4,
    [FLAT_MODEL_CHECKSUM] = 4,
    [FLAT_MODEL_REGIONS] = FLAT_VECTOR(ARN_REGION_PLAN_BYTES),
    [FLAT_MODEL_TENSORS] = FLAT_VECTOR(4),
    [FLAT_MODEL_SUBGRAPHS] = FLAT_VECTOR(4),
    [FLAT_MODEL_CALL_DEPTH] = 1,
    [FLAT_MODEL_INPUTS] = FLAT_VECTOR(4),
    [FLAT_MODEL_OUTPUTS] = FLAT_VECTOR(4),
    [FLAT_MODEL_STATES] = FLAT_VECTOR(4),
    [FLAT_MODEL_DATA] = FLAT_VECTOR(1),
    [FLAT_MODEL_NAME] = FLAT_STRING,
    [FLAT_MODEL_PRODUCER] = FLAT_STRING,
};
#define MODEL_HEAD (FLAT_MODEL_CHECKSUM + 1) /* what is looked at before the size of the file is known */

static const uint8_t TENSOR[] = {
    [FLAT_TENSOR_SHAPE] = FLAT_VECTOR(4),
    [FLAT_TENSOR_DTYPE] = 1,
    [FLAT_TENSOR_STORAGE] = 1,
    [FLAT_TENSOR_REGION] = 1,
    [FLAT_TENSOR_LAYOUT] = 1,
    [FLAT_TENSOR_OFFSET] = 4,
    [FLAT_TENSOR_QUANTIZATION] = FLAT_TABLE_REF,
    [FLAT_TENSOR_NAME] = FLAT_STRING,
};

static const uint8_t QUANTIZATION[] = {
    [FLAT_QUANTIZATION_SCALE] = FLAT_VECTOR(4),
    [FLAT_QUANTIZATION_ZERO_POINT] = FLAT_VECTOR(4),
    [FLAT_QUANTIZATION_AXIS] = 4,
};

static const uint8_t SUBGRAPH[] = {
    [FLAT_SUBGRAPH_NODES] = FLAT_VECTOR(4),
    [FLAT_SUBGRAPH_INPUTS] = FLAT_VECTOR(4),
    [FLAT_SUBGRAPH_OUTPUTS] = FLAT_VECTOR(4),
    [FLAT_SUBGRAPH_NAME] = FLAT_STRING,
};

static const uint8_t NODE[] = {
    [FLAT_NODE_OP] = 2,
    [FLAT_NODE_VARIANT] = 2,
    [FLAT_NODE_INPUTS] = FLAT_VECTOR(4),
    [FLAT_NODE_OUTPUTS] = FLAT_VECTOR(4),
    [FLAT_NODE_SCRATCH] = 4,
    [FLAT_NODE_PARAMS] = FLAT_VECTOR(4),
    [FLAT_NODE_SUBGRAPHS] = FLAT_VECTOR(4),
    [FLAT_NODE_NAME] = FLAT_STRING,
};

static const uint8_t PORT[] = {
    [FLAT_PORT_TENSOR] = 4,
    [FLAT_PORT_NAME] = FLAT_STRING,
    [FLAT_PORT_LABELS] = FLAT_VECTOR(4),
#if defined(ARN_CHECK_INPUTS)
    /* Nobody else reads them. */
    [FLAT_PORT_EXPECTED_MIN] = 4,
    [FLAT_PORT_EXPECTED_MAX] = 4,
#endif
};

static const uint8_t STATE[] = {
    [FLAT_STATE_OUTPUT] = 4,
    [FLAT_STATE_INPUT] = 4,
    [FLAT_STATE_INITIAL] = 4,
};

/* The table at `index` of a verified vector of references, itself verified; null if it is not sound. */
static const uint8_t *checked_table(flat_file *file, const uint8_t *vector, uint32_t index, const uint8_t *kinds, uint32_t count) {
    const uint32_t table = flat_check_reference(file, (uint32_t)(vector - file->data) + 4 + 4 * index);
    return table != 0 && flat_check_table(file, table, kinds, count) ? file->data + table : NULL;
}

static int is_power_of_two(uint32_t v) {
    return v != 0 && (v & (v - 1)) == 0;
}

static arn_status check_regions(const uint8_t *regions) {
    const uint32_t count = flat_length(regions);
    if (count == 0) {
        return ARN_ERROR_CORRUPT;
    }
    for (uint32_t i = 0; i < count; i++) {
        const arn_region_plan plan = arn_region_plan_at(regions, i);
        if (plan.size > INT32_MAX || !is_power_of_two(plan.alignment)) {
            return ARN_ERROR_CORRUPT;
        }
        if (plan.kind > FLAT_REGION_KIND_EXTERNAL) {
            return ARN_ERROR_UNSUPPORTED;
        }
    }
    return ARN_OK;
}

static uint32_t byte_of(const uint8_t *field) {
    return field != NULL ? *field : 0;
}

/* Type, shape, and that the bytes lie aligned inside the data or inside their region. `fields`: those of the tensor. */
static arn_status check_tensor(const uint8_t *const fields[], const uint8_t *regions, uint32_t data_size) {
    const uint32_t dtype = byte_of(fields[FLAT_TENSOR_DTYPE]);
    const uint32_t storage = byte_of(fields[FLAT_TENSOR_STORAGE]);
    const uint32_t offset = fields[FLAT_TENSOR_OFFSET] != NULL ? flat_u32(fields[FLAT_TENSOR_OFFSET]) : 0;
    const uint8_t *shape = fields[FLAT_TENSOR_SHAPE];
    const uint32_t element = arn_element_bytes(dtype);
    if (dtype == FLAT_DTYPE_NONE) {
        return ARN_ERROR_CORRUPT;
    }
    if (element == 0 || storage > FLAT_STORAGE_EXTERNAL || byte_of(fields[FLAT_TENSOR_LAYOUT]) != FLAT_LAYOUT_PLAIN) {
        return ARN_ERROR_UNSUPPORTED;
    }
    uint32_t room = data_size;
    if (storage != FLAT_STORAGE_CONSTANT) {
        const uint32_t region = byte_of(fields[FLAT_TENSOR_REGION]);
        if (region >= flat_length(regions)) {
            return ARN_ERROR_CORRUPT;
        }
        const arn_region_plan plan = arn_region_plan_at(regions, region);
        if ((plan.kind == FLAT_REGION_KIND_EXTERNAL) != (storage == FLAT_STORAGE_EXTERNAL) || element > plan.alignment) {
            return ARN_ERROR_CORRUPT;
        }
        room = plan.size;
    }
    const uint32_t bytes = shape != NULL ? arn_shape_bytes(shape + flat_u32(shape), element) : element;
    if (bytes == 0 || (offset & (element - 1)) != 0 || offset > room || bytes > room - offset) {
        return ARN_ERROR_CORRUPT;
    }
    return ARN_OK;
}

static arn_status check_tensors(flat_file *file, const uint8_t *tensors, const uint8_t *regions, uint32_t data_size) {
    for (uint32_t i = 0; i < flat_length(tensors); i++) {
        if (checked_table(file, tensors, i, TENSOR, ARRAY_LENGTH(TENSOR)) == NULL) {
            return ARN_ERROR_CORRUPT;
        }
        const arn_status status = check_tensor(file->fields, regions, data_size);
        if (status != ARN_OK) {
            return status;
        }
        const uint8_t *reference = file->fields[FLAT_TENSOR_QUANTIZATION];
        if (reference != NULL) {
            const uint32_t quantization = (uint32_t)(reference - file->data) + flat_u32(reference);
            if (!flat_check_table(file, quantization, QUANTIZATION, ARRAY_LENGTH(QUANTIZATION))) {
                return ARN_ERROR_CORRUPT;
            }
        }
    }
    return ARN_OK;
}

/* 1 if every index of the vector is in [least, count). */
static int check_indices(const uint8_t *vector, int32_t least, uint32_t count) {
    for (uint32_t i = 0; i < flat_length(vector); i++) {
        const int32_t index = flat_i32_at(vector, i);
        if (index < least || index >= (int32_t)count) {
            return 0;
        }
    }
    return 1;
}

static int check_nodes(flat_file *file, const uint8_t *nodes, uint32_t tensors, uint32_t subgraphs) {
    for (uint32_t i = 0; i < flat_length(nodes); i++) {
        const uint8_t *node = checked_table(file, nodes, i, NODE, ARRAY_LENGTH(NODE));
        if (node == NULL || !check_indices(flat_get_vector(node, FLAT_NODE_INPUTS), -1, tensors) ||
            !check_indices(flat_get_vector(node, FLAT_NODE_OUTPUTS), 0, tensors) ||
            !check_indices(flat_get_vector(node, FLAT_NODE_SUBGRAPHS), 0, subgraphs)) {
            return 0;
        }
        const int32_t scratch = flat_get_i32(node, FLAT_NODE_SCRATCH, -1);
        if (scratch < -1 || scratch >= (int32_t)tensors) {
            return 0;
        }
    }
    return 1;
}

static int check_subgraphs(flat_file *file, const uint8_t *subgraphs, uint32_t tensors) {
    const uint32_t count = flat_length(subgraphs);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *subgraph = checked_table(file, subgraphs, i, SUBGRAPH, ARRAY_LENGTH(SUBGRAPH));
        if (subgraph == NULL || !check_indices(flat_get_vector(subgraph, FLAT_SUBGRAPH_INPUTS), 0, tensors) ||
            !check_indices(flat_get_vector(subgraph, FLAT_SUBGRAPH_OUTPUTS), 0, tensors) ||
            !check_nodes(file, flat_get_vector(subgraph, FLAT_SUBGRAPH_NODES), tensors, count)) {
            return 0;
        }
    }
    return count > 0; /* the main one */
}

static int check_ports(flat_file *file, const uint8_t *ports, const uint8_t *tensors, int written) {
    for (uint32_t i = 0; i < flat_length(ports); i++) {
        const uint8_t *port = checked_table(file, ports, i, PORT, ARRAY_LENGTH(PORT));
        if (port == NULL) {
            return 0;
        }
        const uint32_t tensor = flat_get_u32(port, FLAT_PORT_TENSOR, 0);
        if (tensor >= flat_length(tensors)) {
            return 0;
        }
        if (written && arn_tensor_place(flat_table_at(tensors, tensor)).storage != FLAT_STORAGE_REGION) {
            return 0;
        }
        const uint8_t *labels = flat_get_vector(port, FLAT_PORT_LABELS);
        for (uint32_t j = 0; j < flat_length(labels); j++) {
            const uint32_t label = flat_check_reference(file, (uint32_t)(labels - file->data) + 4 + 4 * j);
            if (file->visits == 0 || label == 0 || !flat_check_vector(file, label, 1, 1)) {
                return 0;
            }
            file->visits--;
        }
    }
    return 1;
}

static int check_states(flat_file *file, const uint8_t *states, uint32_t tensors) {
    for (uint32_t i = 0; i < flat_length(states); i++) {
        const uint8_t *state = checked_table(file, states, i, STATE, ARRAY_LENGTH(STATE));
        if (state == NULL || flat_get_u32(state, FLAT_STATE_OUTPUT, 0) >= tensors || flat_get_u32(state, FLAT_STATE_INPUT, 0) >= tensors) {
            return 0;
        }
        const int32_t initial = flat_get_i32(state, FLAT_STATE_INITIAL, -1);
        if (initial < -1 || initial >= (int32_t)tensors) {
            return 0;
        }
    }
    return 1;
}

arn_status arn_model_open(arn_model *model, const void *data, size_t size) {
    if (model == NULL || data == NULL) {
        return ARN_ERROR_ARGUMENT;
    }
    memset(model, 0, sizeof *model);
    if ((uintptr_t)data % ARN_ALIGNMENT != 0) {
        return ARN_ERROR_ALIGNMENT;
    }
    flat_file file = {(const uint8_t *)data, size < INT32_MAX ? (uint32_t)size : INT32_MAX, 1, {NULL}};
    if (size < 8) {
        return ARN_ERROR_TRUNCATED;
    }
    if (memcmp(file.data + 4, "ARN1", 4) != 0) {
        return ARN_ERROR_FORMAT;
    }
    const uint32_t root = flat_check_reference(&file, 0);
    if (root == 0) {
        return flat_u32(file.data) > file.size - 4 ? ARN_ERROR_TRUNCATED : ARN_ERROR_CORRUPT;
    }
    if (!flat_check_table(&file, root, MODEL, MODEL_HEAD)) {
        return ARN_ERROR_CORRUPT;
    }
    const uint8_t *table = file.data + root;
    if (flat_get_u32(table, FLAT_MODEL_VERSION, ARN_SCHEMA_VERSION) != ARN_SCHEMA_VERSION) {
        return ARN_ERROR_VERSION;
    }
    const uint32_t stated = flat_get_u32(table, FLAT_MODEL_FILE_SIZE, 0);
    if (stated > file.size) {
        return ARN_ERROR_TRUNCATED;
    }
    if (stated < root + 4) {
        return ARN_ERROR_CORRUPT;
    }
    file.size = stated;
    file.visits = stated / 4; /* a reference takes a word: only tables shared on several levels can be met more often */
    if (!flat_check_table(&file, root, MODEL, ARRAY_LENGTH(MODEL))) {
        return ARN_ERROR_CORRUPT;
    }

    const uint8_t *constants = flat_get_vector(table, FLAT_MODEL_DATA);
    const uint32_t data_size = flat_length(constants);
    if (data_size > 0 && (constants + 4 - file.data) % ARN_ALIGNMENT != 0) {
        return ARN_ERROR_CORRUPT;
    }
    const uint8_t *regions = flat_get_vector(table, FLAT_MODEL_REGIONS);
    const uint8_t *tensors = flat_get_vector(table, FLAT_MODEL_TENSORS);
    const uint8_t *subgraphs = flat_get_vector(table, FLAT_MODEL_SUBGRAPHS);
    const uint32_t count = flat_length(tensors);
    if (count == 0) {
        return ARN_ERROR_CORRUPT;
    }
    arn_status status = check_regions(regions);
    if (status == ARN_OK) {
        status = check_tensors(&file, tensors, regions, data_size);
    }
    if (status != ARN_OK) {
        return status;
    }
    if (!check_subgraphs(&file, subgraphs, count) || !check_ports(&file, flat_get_vector(table, FLAT_MODEL_INPUTS), tensors, 1) ||
        !check_ports(&file, flat_get_vector(table, FLAT_MODEL_OUTPUTS), tensors, 0) ||
        !check_states(&file, flat_get_vector(table, FLAT_MODEL_STATES), count)) {
        return ARN_ERROR_CORRUPT;
    }
    const uint32_t depth = flat_get_u8(table, FLAT_MODEL_CALL_DEPTH, 1);
    if (depth != 1) {
        return depth == 0 ? ARN_ERROR_CORRUPT : ARN_ERROR_UNSUPPORTED; /* no operator of this version calls a subgraph */
    }

    model->file = file.data;
    model->root = table;
    model->data = constants + 4;
    model->size = stated;
    model->data_size = data_size;
    model->tensors = (uint32_t)(tensors - file.data);
    const uint8_t *nodes = flat_get_table(flat_table_at(subgraphs, 0), FLAT_SUBGRAPH_NODES);
    if (nodes == NULL) {
        memset(model, 0, sizeof *model);
        return ARN_ERROR_CORRUPT;
    }
    model->nodes = (uint32_t)(nodes - file.data);
    return ARN_OK;
}
