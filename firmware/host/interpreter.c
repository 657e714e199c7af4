/* The interpreter behind five plain functions, for callers that load it as a shared library (targets/host.py): no structure crosses. */
#include <stdlib.h>
#include <string.h>

#include "arenite.h"
#include "arenite_resolver.h"

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

/* The kernels: all of the runtime's, unless the build names the resolver of a model that brings its own. */
#ifdef ARN_HOST_RESOLVER
extern const arn_resolver ARN_HOST_RESOLVER;
#else
#define ARN_HOST_RESOLVER arn_every_kernel
#endif

/* A model in memory of its own and one session of it. */
typedef struct arn_host {
    arn_model model;
    arn_session session;
    arn_region *regions;
    void **blocks; /* what free takes; [0] is the file, then one a region */
    int region_count;
} arn_host;

EXPORTED arn_host *arn_host_open(const void *file, size_t size, int *status);
EXPORTED void *arn_host_port(const arn_host *host, int is_output, int index, size_t *bytes);
EXPORTED int arn_host_invoke(arn_host *host);
EXPORTED int arn_host_reset(arn_host *host);
EXPORTED void arn_host_close(arn_host *host);

/* `bytes` of zeroes, aligned as models and regions must be; *block is what free takes. */
static void *allocate(size_t bytes, void **block) {
    *block = calloc(1, bytes + ARN_ALIGNMENT);
    if (*block == NULL) {
        return NULL;
    }
    return (uint8_t *)*block + (ARN_ALIGNMENT - (uintptr_t)*block % ARN_ALIGNMENT) % ARN_ALIGNMENT;
}

static arn_status open_host(arn_host *host, const void *file, size_t size) {
    void *file_block;
    void *copy = allocate(size, &file_block);
    if (copy == NULL) {
        return ARN_ERROR_MEMORY;
    }
    memcpy(copy, file, size);
    arn_status status = arn_model_open(&host->model, copy, size);
    const int regions = status == ARN_OK ? arn_region_count(&host->model) : 0;
    host->blocks = (void **)calloc((size_t)regions + 1, sizeof *host->blocks);
    host->regions = (arn_region *)calloc((size_t)regions + 1, sizeof *host->regions);
    if (host->blocks == NULL || host->regions == NULL) {
        free(file_block);
        return ARN_ERROR_MEMORY;
    }
    host->blocks[0] = file_block;
    host->region_count = regions;
    for (int i = 0; i < regions; ++i) {
        const size_t bytes = arn_region_bytes(&host->model, i);
        host->regions[i].data = allocate(bytes, &host->blocks[i + 1]);
        host->regions[i].size = bytes;
        if (host->regions[i].data == NULL) {
            return ARN_ERROR_MEMORY;
        }
    }
    if (status == ARN_OK) {
        status = arn_load_constants(&host->model, host->regions, regions);
    }
    if (status == ARN_OK) {
        status = arn_session_init(&host->session, &host->model, &ARN_HOST_RESOLVER, host->regions, regions);
    }
    return status;
}

/* Opens a copy of the file and starts a session. Null where that fails: *status says why. */
arn_host *arn_host_open(const void *file, size_t size, int *status) {
    arn_host *host = (arn_host *)calloc(1, sizeof *host);
    if (host == NULL) {
        *status = (int)ARN_ERROR_MEMORY;
        return NULL;
    }
    const arn_status opened = open_host(host, file, size);
    *status = (int)opened;
    if (opened != ARN_OK) {
        arn_host_close(host);
        return NULL;
    }
    return host;
}

/* Memory of an input or output, and its size. Null where there is no such port. */
void *arn_host_port(const arn_host *host, int is_output, int index, size_t *bytes) {
    const arn_tensor tensor = is_output ? arn_output(&host->session, index) : arn_input(&host->session, index);
    *bytes = tensor.bytes;
    return tensor.data;
}

int arn_host_invoke(arn_host *host) {
    return (int)arn_invoke(&host->session);
}

int arn_host_reset(arn_host *host) {
    return (int)arn_session_reset(&host->session);
}

void arn_host_close(arn_host *host) {
    for (int i = 0; host->blocks != NULL && i <= host->region_count; ++i) {
        free(host->blocks[i]);
    }
    free(host->blocks);
    free(host->regions);
    free(host);
}
