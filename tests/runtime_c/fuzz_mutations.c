/* Mutates valid flat models and gives them to the runtime, which must refuse them with a status or run them: never fault.
 *
 *     fuzz_mutations SEED COUNT SWEEP MODEL.arn…
 *
 * Built with the address and undefined-behaviour sanitizers. File and regions are allocated at exactly their sizes, so that every access
 * beyond them is found. If SWEEP is not 0, every structural word of every model is first set to each of the values in EDGES, one at a
 * time; then COUNT files with random mutations follow. The same arguments give the same files.
 *
 * Prints `files N opened N accepted N`, and fails if a model that is unchanged is not accepted or if the runtime wrote to a model. */
#define _XOPEN_SOURCE 600 /* setitimer, sigsetjmp */

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "arenite.h"
#include "arenite_resolver.h"
#include "flat.h"

#define MAX_MODELS  32
#define MAX_REGIONS 8
#define MAX_REGION  (1u << 20) /* larger ones count as refused: the caller has no such memory */

static const uint32_t EDGES[] = {0,          1,          2,          3,          7,          16,        127,           128,
                                 255,        256,        0xffff,     0x10000,    1 << 20,    (1 << 27), (1 << 27) + 1, 0x40000000,
                                 0x7fffffff, 0x80000000, 0x80000001, 0xfffffff0, 0xfffffffe, UINT32_MAX};
#define PATIENCE_US 20000 /* of CPU: a loop may have been given any number of iterations */
#define EDGE_COUNT  (sizeof EDGES / sizeof EDGES[0])

typedef struct seed_model {
    uint8_t *bytes;
    uint32_t size;
    uint32_t data_begin; /* the constants: their bytes are not structure */
    uint32_t data_end;
    uint32_t size_field;
} seed_model;

static seed_model models[MAX_MODELS];
static uint64_t state;
static uint32_t files, opened, accepted;

/* xorshift64*: https://doi.org/10.18637/jss.v008.i14 */
static uint32_t random_word(void) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 2685821657736338717u) >> 32);
}

static uint32_t below(uint32_t bound) {
    return random_word() % bound;
}

static void fail(const char *what) {
    fprintf(stderr, "fuzz_mutations: %s\n", what);
    exit(1);
}

static void *allocate(size_t size) {
    void *memory = malloc(size == 0 ? 1 : size);
    if (memory == NULL) {
        fail("out of memory");
    }
    return memory;
}

static void use_port(arn_tensor tensor, int is_input) {
    int64_t elements = 1;
    for (int32_t i = 0; i < tensor.rank; i++) {
        elements *= tensor.shape[i];
    }
    if (tensor.data == NULL || elements <= 0) {
        return;
    }
    float *values = allocate((size_t)elements * sizeof *values);
    for (int64_t i = 0; i < elements; i++) {
        const uint32_t bits = random_word();
        memcpy(&values[i], &bits, sizeof bits);
    }
    if (is_input) {
        uint8_t *bytes = tensor.data;
        for (size_t i = 0; i < tensor.bytes; i++) {
            bytes[i] = (uint8_t)random_word();
        }
        (void)arn_quantize_input(&tensor, values, (size_t)elements);
    } else {
        (void)arn_dequantize_output(&tensor, values, (size_t)elements);
    }
    free(values);
}

static void bind_ports(arn_session *session, void *bound[2 * MAX_REGIONS]) {
    const arn_model *model = session->model;
    for (int i = 0; i < arn_input_count(model) && i < MAX_REGIONS; i++) {
        bound[i] = allocate(arn_input(session, i).bytes);
        (void)arn_bind_input(session, i, bound[i]);
    }
    for (int i = 0; i < arn_output_count(model) && i < MAX_REGIONS; i++) {
        bound[MAX_REGIONS + i] = allocate(arn_output(session, i).bytes);
        (void)arn_bind_output(session, i, bound[MAX_REGIONS + i]);
    }
}

static sigjmp_buf given_up;

static void give_up(int signal_number) {
    (void)signal_number;
    siglongjmp(given_up, 1);
}

/* A session holds nothing that an invocation which does not end could leave behind. */
static void invoke(arn_session *session) {
    static const struct itimerval never = {{0, 0}, {0, 0}}, soon = {{0, 0}, {0, PATIENCE_US}};
    if (sigsetjmp(given_up, 1) == 0) {
        (void)setitimer(ITIMER_VIRTUAL, &soon, NULL);
        (void)arn_invoke(session);
    }
    (void)setitimer(ITIMER_VIRTUAL, &never, NULL);
}

/* Otherwise constants are loaded by chance. */
static int loads_constants = 0;

/* Two invocations, with every function of the interface between. 1 if the session was accepted. */
static int run(const arn_model *model) {
    arn_region regions[MAX_REGIONS] = {{NULL, 0}};
    const int count = arn_region_count(model);
    if (count > MAX_REGIONS) {
        return 0;
    }
    size_t total = 0;
    for (int i = 0; i < count; i++) {
        total += arn_region_bytes(model, i);
    }
    if (total > MAX_REGION) {
        return 0;
    }
    for (int i = 0; i < count; i++) {
        regions[i].size = arn_region_bytes(model, i);
        if (regions[i].size > 0) {
            regions[i].data = allocate(regions[i].size);
            memset(regions[i].data, (int)(random_word() & 0xff), regions[i].size);
        }
    }
    if (loads_constants || (random_word() & 1)) {
        (void)arn_load_constants(model, regions, count);
    }
    arn_session session;
    void *bound[2 * MAX_REGIONS] = {NULL};
    const int ok = arn_session_init(&session, model, &arn_every_kernel, regions, count) == ARN_OK;
    if (ok) {
        bind_ports(&session, bound);
        for (int i = 0; i < arn_input_count(model); i++) {
            (void)strlen(arn_input_name(model, i));
            use_port(arn_input(&session, i), 1);
        }
        invoke(&session);
        for (int i = 0; i < arn_output_count(model); i++) {
            (void)strlen(arn_output_name(model, i));
            use_port(arn_output(&session, i), 0);
        }
        (void)arn_session_reset(&session);
        invoke(&session);
    }
    for (int i = 0; i < count; i++) {
        if (arn_region_bytes(model, i) > 0) {
            free(regions[i].data);
        }
    }
    for (int i = 0; i < 2 * MAX_REGIONS; i++) {
        free(bound[i]);
    }
    return ok;
}

static arn_status try_file(const uint8_t *bytes, uint32_t size) {
    uint8_t *copy = allocate(size);
    memcpy(copy, bytes, size);
    arn_model model;
    const arn_status status = arn_model_open(&model, copy, size);
    files++;
    if (status == ARN_OK) {
        opened++;
        (void)arn_model_check(&model);
        accepted += (uint32_t)run(&model);
        if (memcmp(copy, bytes, size) != 0) {
            fail("the runtime wrote to the model");
        }
    }
    free(copy);
    return status;
}

static void put_word(uint8_t *at, uint32_t v) {
    memcpy(at, &v, sizeof v);
}

static uint32_t get_word(const uint8_t *at) {
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

/* A position, three times in four in the structure rather than in the constants. */
static uint32_t position(const seed_model *model) {
    const uint32_t constants = model->data_end - model->data_begin;
    if (below(4) == 0) {
        return below(model->size);
    }
    const uint32_t at = below(model->size - constants);
    return at < model->data_begin ? at : at + constants;
}

static uint32_t mutate(const seed_model *model, uint8_t *bytes, uint32_t size) {
    const uint32_t at = position(model);
    uint8_t *word = bytes + (at & ~3u);
    switch (below(8)) {
    case 0:
        bytes[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        bytes[at] = (uint8_t)random_word();
        break;
    case 2:
        put_word(word, EDGES[below(EDGE_COUNT)]);
        break;
    case 3:
        put_word(word, get_word(word) + below(17) - 8);
        break;
    case 4: { /* splice */
        const uint32_t from = position(model) & ~3u, words = 1 + below(8);
        for (uint32_t i = 0; i < 4 * words && from + i < size && (at & ~3u) + i < size; i++) {
            word[i] = bytes[from + i];
        }
        break;
    }
    case 5: { /* the same number everywhere it occurs: shapes and records that change together pass more checks */
        const uint32_t old = get_word(word), new = below(2) ? old + below(5) - 2 : EDGES[below(EDGE_COUNT)];
        for (uint32_t i = 0; i + 4 <= size; i += 4) {
            if ((i < model->data_begin || i >= model->data_end) && get_word(bytes + i) == old) {
                put_word(bytes + i, new);
            }
        }
        break;
    }
    case 6: /* an entry of a vtable, or half of something else */
        bytes[at & ~1u] = (uint8_t)below(64);
        break;
    default: /* cut, half of the time with the size that then is right */
        if (below(4) == 0) {
            size = 1 + below(size);
            if (below(2) == 0 && model->size_field + 4 <= size) {
                put_word(bytes + model->size_field, size);
            }
        }
    }
    return size;
}

static void sweep(const seed_model *model) {
    uint8_t *bytes = allocate(model->size);
    memcpy(bytes, model->bytes, model->size);
    for (uint32_t at = 0; at + 4 <= model->size; at += 4) {
        if (at >= model->data_begin && at < model->data_end) {
            continue;
        }
        const uint32_t original = get_word(bytes + at);
        for (uint32_t i = 0; i < EDGE_COUNT; i++) {
            put_word(bytes + at, EDGES[i]);
            (void)try_file(bytes, model->size);
        }
        put_word(bytes + at, original);
    }
    free(bytes);
}

static void load(seed_model *model, const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fail(path);
    }
    model->size = (uint32_t)ftell(file);
    model->bytes = allocate(model->size);
    rewind(file);
    if (fread(model->bytes, 1, model->size, file) != model->size) {
        fail(path);
    }
    fclose(file);
    arn_model opened_model;
    if (arn_model_open(&opened_model, model->bytes, model->size) != ARN_OK || arn_model_check(&opened_model) != ARN_OK) {
        fail(path);
    }
    model->data_begin = (uint32_t)(opened_model.data - opened_model.file);
    model->data_end = model->data_begin + opened_model.data_size;
    model->size_field = (uint32_t)(flat_field(opened_model.root, FLAT_MODEL_FILE_SIZE) - opened_model.file);
    const uint32_t before = accepted;
    loads_constants = 1;
    if (try_file(model->bytes, model->size) != ARN_OK || accepted != before + 1) {
        fail(path);
    }
    loads_constants = 0;
}

int main(int argc, char **argv) {
    const int count = argc - 4;
    if (count < 1 || count > MAX_MODELS) {
        fail("usage: fuzz_mutations SEED COUNT SWEEP MODEL.arn…");
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = give_up;
    (void)sigaction(SIGVTALRM, &action, NULL);
    state = strtoull(argv[1], NULL, 10) * 2 + 1;
    for (int i = 0; i < count; i++) {
        load(&models[i], argv[4 + i]);
    }
    for (int i = 0; i < count && strtoul(argv[3], NULL, 10) != 0; i++) {
        sweep(&models[i]);
    }
    const uint32_t wanted = (uint32_t)strtoul(argv[2], NULL, 10);
    for (uint32_t n = 0; n < wanted; n++) {
        const seed_model *model = &models[below((uint32_t)count)];
        uint8_t *bytes = allocate(model->size);
        memcpy(bytes, model->bytes, model->size);
        uint32_t size = model->size;
        for (uint32_t left = 1 + below(3); left > 0 && size == model->size; left--) {
            size = mutate(model, bytes, size);
        }
        (void)try_file(bytes, size);
        free(bytes);
    }
    for (int i = 0; i < count; i++) {
        free(models[i].bytes);
    }
    printf("files %u opened %u accepted %u\n", files, opened, accepted);
    return 0;
}
