/* Arenite: runs neural networks on microcontrollers.
 *
 * The whole public interface. C99, usable from C++, no heap, no globals, no OS. A model is a .arn file, used where it lies
 * (flash); a session is one execution context of it: the caller gives it memory, the size of which the model states.
 *
 *     static uint8_t arena[KWS_MODEL_ARENA_BYTES] ARN_ALIGNED(16);
 *     arn_region regions[1] = {{arena, sizeof arena}};
 *     arn_model model;
 *     arn_session session;
 *     if (arn_model_open(&model, kws_model, sizeof kws_model) == ARN_OK &&
 *         arn_session_init(&session, &model, &kws_resolver, regions, 1) == ARN_OK) {
 *         arn_tensor in = arn_input(&session, 0);
 *         ... write in.data ...
 *         arn_invoke(&session);
 *         arn_tensor out = arn_output(&session, 0);
 *     }
 *
 * Everything that could make a kernel read or write out of bounds is verified by arn_model_open and arn_session_init; a torn, hostile or
 * newer file is refused with a status. Functions are re-entrant: sessions are independent and may share a model.
 */
#ifndef ARENITE_H
#define ARENITE_H

#include <stddef.h>
#include <stdint.h>

#if defined(ARN_CHECK_INPUTS)
#include "arenite_inputs.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define ARN_SCHEMA_VERSION 1
#define ARN_MAX_RANK       8  /* dimensions of a tensor */
#define ARN_MAX_INPUTS     8  /* operands of a kernel */
#define ARN_ALIGNMENT      16 /* of a model and of an arena */

#if defined(__GNUC__) || defined(__clang__)
#define ARN_ALIGNED(n) __attribute__((aligned(n)))
#else
#define ARN_ALIGNED(n)
#endif

#if defined(__GNUC__) && defined(__ELF__)
#define ARN_SECTION(name) __attribute__((section(name)))
#else
#define ARN_SECTION(name)
#endif

typedef enum arn_status {
    ARN_OK = 0,
    ARN_ERROR_ARGUMENT = 1,     /* a null pointer, an index out of range */
    ARN_ERROR_ALIGNMENT = 2,    /* model or region not aligned as the model asks (16 bytes) */
    ARN_ERROR_FORMAT = 3,       /* not a .arn file */
    ARN_ERROR_VERSION = 4,      /* a schema version that this runtime does not know */
    ARN_ERROR_TRUNCATED = 5,    /* shorter than the file says it is */
    ARN_ERROR_CORRUPT = 6,      /* an offset, index, shape or parameter out of bounds */
    ARN_ERROR_CHECKSUM = 7,     /* arn_model_check: the bytes are not those that were written */
    ARN_ERROR_OPERATOR = 8,     /* the resolver has no kernel for an operator or variant of the model */
    ARN_ERROR_MEMORY = 9,       /* a region is missing or smaller than the model's plan */
    ARN_ERROR_UNSUPPORTED = 10, /* the file is valid, but uses a feature that this build lacks */
    ARN_ERROR_NOT_LOADED = 11   /* constants that lie in RAM are not there: arn_load_constants has not been called */
} arn_status;

/* Element types; the values are those of the file. */
typedef enum arn_dtype {
    ARN_NONE = 0,
    ARN_INT8 = 1,
    ARN_UINT8 = 2,
    ARN_INT16 = 3,
    ARN_INT32 = 4,
    ARN_INT64 = 5,
    ARN_FLOAT32 = 6,
    ARN_BOOL = 7,
    ARN_INT4 = 8,
    ARN_UINT16 = 9,
    ARN_UINT32 = 10
} arn_dtype;

/* A tensor as the caller sees it. Real value = scale * (q - zero_point); scale is 0 where the tensor is not quantized. */
typedef struct arn_tensor {
    void *data; /* null: index out of range, or memory that has not been bound yet */
    size_t bytes;
    const int32_t *shape; /* `rank` numbers, in the model */
    int32_t rank;
    arn_dtype dtype;
    float scale;
    int32_t zero_point;
} arn_tensor;

/* Memory that the caller gives: region 0 is the arena, others as the model's plan says. */
typedef struct arn_region {
    void *data;
    size_t size;
} arn_region;

/* An opened model. The fields are the runtime's own. */
typedef struct arn_model {
    const uint8_t *file;
    const uint8_t *root;
    const uint8_t *data; /* constants */
    uint32_t size;
    uint32_t data_size;
    uint32_t tensors; /* offsets into the file of the vectors used at every invocation */
    uint32_t nodes;
} arn_model;

struct arn_kernel;

/* The kernels that a firmware has. The generated NAME_model.c holds one with just those that its model uses. */
typedef struct arn_resolver {
    const struct arn_kernel *const *kernels;
    int32_t count;
    /* Null, or arn_constants_loaded for models some of whose constants are to lie in RAM. */
    arn_status (*constants_loaded)(const arn_model *model, const arn_region regions[], int region_count);
} arn_resolver;

/* An execution context. The fields are the runtime's own. */
typedef struct arn_session {
    const arn_model *model;
    const arn_resolver *resolver;
    arn_region *regions;
    int32_t region_count;
#if defined(ARN_CHECK_INPUTS)
    arn_input_counts counts[ARN_CHECKED_INPUTS];
#endif
} arn_session;

/* Verifies the structure of `size` bytes at `data`, which stay in use as long as the model does. `data` must be 16-byte aligned.
 * Does not read the weights: see arn_model_check. */
arn_status arn_model_open(arn_model *model, const void *data, size_t size);

/* Verifies the checksum over the whole file. `model` must have been opened. */
arn_status arn_model_check(const arn_model *model);

/* Bytes that region `index` must have; 0 where the model has no such region or the caller need not give it. */
size_t arn_region_bytes(const arn_model *model, int index);

/* Number of regions that the model's plan names. */
int arn_region_count(const arn_model *model);

/* For a model some of whose constants are to lie in RAM (convert --weights-in; NAME_model.h says so): copies them from the file into the
 * regions that are theirs. Before arn_session_init, with its regions. Does nothing for other models. */
arn_status arn_load_constants(const arn_model *model, const arn_region regions[], int region_count);

/* ARN_ERROR_NOT_LOADED where the regions do not hold what arn_load_constants copies there. arn_session_init asks, where its resolver does.
 */
arn_status arn_constants_loaded(const arn_model *model, const arn_region regions[], int region_count);

/* Verifies every node against the kernels and every tensor against the regions, and sets states to their initial values.
 * `regions` is kept and must outlive the session; regions are 16-byte aligned and do not overlap. A bound region may still be null. */
arn_status arn_session_init(arn_session *session, const arn_model *model, const arn_resolver *resolver, arn_region regions[],
                            int region_count);

/* Runs the model once. Inputs are consumed unless the model was converted with --keep-inputs. */
arn_status arn_invoke(arn_session *session);

/* Sets the tensors that persist between invocations back to their initial values. */
arn_status arn_session_reset(arn_session *session);

int arn_input_count(const arn_model *model);
int arn_output_count(const arn_model *model);

/* The input or output at `index`, in the order of the ONNX model. */
arn_tensor arn_input(const arn_session *session, int index);
arn_tensor arn_output(const arn_session *session, int index);

/* Its name in the ONNX model; "" where it was stripped. */
const char *arn_input_name(const arn_model *model, int index);
const char *arn_output_name(const arn_model *model, int index);

/* Gives the memory of an input or output that was planned as the caller's own (aligned as its type needs). */
arn_status arn_bind_input(arn_session *session, int index, void *data);
arn_status arn_bind_output(arn_session *session, int index, void *data);

/* float32 to the tensor's own type and back (docs/numerics.md §1); a float32 tensor is copied. `count` elements. */
arn_status arn_quantize_input(const arn_tensor *tensor, const float *values, size_t count);
arn_status arn_dequantize_output(const arn_tensor *tensor, float *values, size_t count);

#if defined(ARN_CHECK_INPUTS)
/* For debug builds, which define ARN_CHECK_INPUTS everywhere: what the input at `index` has held in the invocations since the last call,
 * or since arn_session_init; counting begins anew. An integer input is counted as it was written: what is beyond its type has become
 * its least or greatest value. ARN_ERROR_UNSUPPORTED beyond ARN_CHECKED_INPUTS. */
arn_status arn_input_check(arn_session *session, int index, arn_input_counts *counts);
#endif

/* "ARN_OK", …; never null. */
const char *arn_status_name(arn_status status);

#ifdef __cplusplus
}
#endif

#endif
