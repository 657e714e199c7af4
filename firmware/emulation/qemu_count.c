/* QEMU TCG plugin: counts what every measured call (firmware/cortex_m/measured_call.S) executes, exactly, and how often each block of it
 * ran, by layer of the model. Cycles are modelled from those counts outside: converter/arenite/targets/cortex_m4_timing.py.
 *
 *     -plugin libqemu_count.so,call=0xADDRESS,return=0xADDRESS,code=FILE,begin=0xADDRESS,output=FILE[,layers=FILE]
 *
 * `code` is what lies in flash from address `begin` on. The output is text. A measured call is
 *
 *     call INSTRUCTIONS LAYERS      instructions executed between `call` and `return`; calls of layers among them
 *
 * followed, for the first one and whenever a later one has more instructions than all others but the first, by its blocks:
 *
 *     block LAYER ADDRESS INSTRUCTIONS EXECUTIONS JUMPS
 *
 * where LAYER is -1 outside of layers, INSTRUCTIONS are those of the block, and JUMPS are the executions that did not come from the block
 * in front of it in memory. Instructions in [call, return), the trampoline itself, are not counted. Both addresses begin a translation
 * block, because they are entered by a branch, so counting whole blocks is exact. (A block ends early only where its last instruction
 * raises an exception.)
 *
 * `layers` says what a layer is, a line each:
 *
 *     dispatch BEGIN END            code (hexadecimal) that calls layers, and is part of none
 *     entry ADDRESS                 a function that dispatching code calls for a layer
 *     next LAYER                    of the first call of such a function, of the second, …
 *
 * A layer lasts from the first instruction of its function until dispatching code goes on.
 *
 * QEMU's plugin interface is declared here, as far as it is used, so that no header of QEMU is needed. A plugin must state the version of
 * the interface that it uses: 1 before QEMU 9, at least 2 from there on, 7 from QEMU 11.1 on. The build passes it as
 * ARN_QEMU_PLUGIN_VERSION. Up to version 6 the functions below have the signatures of QEMU 4.2; in version 7 all callbacks take user data,
 * and two of them no longer the plugin's number. (Instructions are read from `code`, because the functions for them are not so stable:
 * qemu_plugin_insn_data changed in version 3, and qemu_plugin_insn_size of QEMU 7 is wrong where the next instruction crosses a page.) */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ARN_QEMU_PLUGIN_VERSION
#error "define ARN_QEMU_PLUGIN_VERSION: 1 for QEMU before 9, 2 from QEMU 9 on, 7 from QEMU 11.1 on"
#endif
#define USER_DATA_VERSION 7

#define EXPORTED __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;

enum { QEMU_PLUGIN_CB_NO_REGS = 0 };

/* The beginning of what qemu_plugin_install receives. */
typedef struct qemu_info {
    const char *target_name;
    struct {
        int min;
        int cur;
    } version;
} qemu_info;

#if ARN_QEMU_PLUGIN_VERSION >= USER_DATA_VERSION
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*callback)(struct qemu_plugin_tb *tb, void *user), void *user);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*callback)(void *user), void *user);
#else
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb));
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t id, void *user), void *user);
#endif
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*callback)(unsigned int vcpu, void *user), int flags,
                                                 void *user);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);

EXPORTED extern int qemu_plugin_version;
int qemu_plugin_version = ARN_QEMU_PLUGIN_VERSION;

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info *info, int argc, char **argv);

#define NO_LAYER (-1)
#define NOWHERE  0 /* the end of a block that is not in flash: what follows counts as a jump */

typedef struct executions {
    uint64_t count;
    uint64_t jumps;
} executions;

typedef struct block {
    struct block *next;
    uint64_t begin;
    uint64_t end;
    uint64_t instructions;
    int is_dispatch;
    int is_entry;
    executions of_layer[]; /* [1 + layer] */
} block;

typedef struct code_range {
    uint64_t begin;
    uint64_t end;
} code_range;

/* The flash. */
static uint8_t *code;
static uint64_t code_begin, code_bytes;

/* What `layers` says. */
static code_range *dispatching;
static uint64_t *entries;
static int64_t *layer_of_call;
static size_t dispatching_count, entry_count, layer_call_count;
static size_t slots = 1; /* executions of a block */

/* One guest CPU runs, so plain variables do. */
static uint64_t call_address, return_address;
static block *blocks; /* as QEMU translates them: the same code may be there more than once */
static FILE *output;

/* The call under way. */
static int counting;
static uint64_t instructions;
static uint64_t previous_end;
static int in_layer;
static size_t slot; /* 1 + the layer, or 0 */
static size_t layer_calls;

static uint64_t finished_calls;
static uint64_t most_instructions; /* of all calls but the first */

static void on_call(unsigned int vcpu, void *user) {
    (void)vcpu;
    (void)user;
    for (block *b = blocks; b != NULL; b = b->next) {
        memset(b->of_layer, 0, slots * sizeof b->of_layer[0]);
    }
    instructions = 0;
    previous_end = NOWHERE;
    in_layer = 0;
    slot = 0;
    layer_calls = 0;
    counting = 1;
}

static void write_blocks(void) {
    for (const block *b = blocks; b != NULL; b = b->next) {
        for (size_t s = 0; s < slots; ++s) {
            if (b->of_layer[s].count > 0) {
                fprintf(output, "block %" PRId64 " %#" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (int64_t)s - 1, b->begin,
                        b->instructions, b->of_layer[s].count, b->of_layer[s].jumps);
            }
        }
    }
}

static void on_return(unsigned int vcpu, void *user) {
    (void)vcpu;
    (void)user;
    if (!counting) {
        return;
    }
    fprintf(output, "call %" PRIu64 " %zu\n", instructions, layer_calls);
    if (finished_calls == 0 || instructions > most_instructions) {
        write_blocks();
        most_instructions = finished_calls == 0 ? 0 : instructions;
    }
    ++finished_calls;
    counting = 0;
}

/* Which layer the block belongs to. Calls beyond those that `layers` names belong to none. */
static void follow_layers(const block *b) {
    if (b->is_dispatch) {
        in_layer = 0;
        slot = 0;
    } else if (b->is_entry && !in_layer) {
        in_layer = 1;
        slot = layer_calls < layer_call_count ? (size_t)(1 + layer_of_call[layer_calls]) : 0;
        ++layer_calls;
    }
}

static void on_block(unsigned int vcpu, void *user) {
    block *b = (block *)user;
    (void)vcpu;
    if (!counting) {
        return;
    }
    follow_layers(b);
    executions *here = &b->of_layer[slot];
    ++here->count;
    here->jumps += previous_end != b->begin;
    instructions += b->instructions;
    previous_end = b->end;
}

static int is_dispatch(uint64_t address) {
    for (size_t i = 0; i < dispatching_count; ++i) {
        if (address >= dispatching[i].begin && address < dispatching[i].end) {
            return 1;
        }
    }
    return 0;
}

static int is_entry(uint64_t address) {
    for (size_t i = 0; i < entry_count; ++i) {
        if (address == entries[i]) {
            return 1;
        }
    }
    return 0;
}

/* Memory that must be there. */
static void *resized(void *memory, size_t bytes) {
    void *larger = realloc(memory, bytes);
    if (larger == NULL) {
        fprintf(stderr, "qemu_count: out of memory\n");
        exit(1);
    }
    return larger;
}

/* Behind so many instructions. A first halfword of 0b11101…, 0b11110… or 0b11111… has a second one (ARMv7-M ARM A5.1). */
static uint64_t end_of(uint64_t address, uint64_t count) {
    for (; count > 0; --count) {
        const uint64_t at = address - code_begin;
        if (address < code_begin || at + 1 >= code_bytes) {
            return NOWHERE;
        }
        address += code[at + 1] >= 0xE8 ? 4 : 2;
    }
    return address;
}

static block *new_block(const struct qemu_plugin_tb *tb) {
    const size_t bytes = sizeof(block) + slots * sizeof(executions);
    block *b = (block *)resized(NULL, bytes);
    memset(b, 0, bytes);
    b->instructions = qemu_plugin_tb_n_insns(tb);
    b->begin = qemu_plugin_tb_vaddr(tb);
    b->end = end_of(b->begin, b->instructions);
    b->is_dispatch = is_dispatch(b->begin);
    b->is_entry = is_entry(b->begin);
    b->next = blocks;
    blocks = b;
    return b;
}

static void instrument(struct qemu_plugin_tb *tb) {
    const uint64_t address = qemu_plugin_tb_vaddr(tb);
    if (address == call_address) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_call, QEMU_PLUGIN_CB_NO_REGS, NULL);
    } else if (address == return_address) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_return, QEMU_PLUGIN_CB_NO_REGS, NULL);
    } else if (address < call_address || address > return_address) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, new_block(tb));
    }
}

#if ARN_QEMU_PLUGIN_VERSION >= USER_DATA_VERSION
static void on_translation(struct qemu_plugin_tb *tb, void *user) {
    (void)user;
    instrument(tb);
}

static void on_exit_of_emulator(void *user) {
    (void)user;
    fclose(output);
}

static void register_callbacks(qemu_plugin_id_t id) {
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation, NULL);
    qemu_plugin_register_atexit_cb(id, on_exit_of_emulator, NULL);
}
#else
static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    instrument(tb);
}

static void on_exit_of_emulator(qemu_plugin_id_t id, void *user) {
    (void)id;
    (void)user;
    fclose(output);
}

static void register_callbacks(qemu_plugin_id_t id) {
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit_of_emulator, NULL);
}
#endif

/* 0 where a line is none of those above. */
static int read_line(const char *line) {
    uint64_t begin, end;
    int64_t layer;
    if (sscanf(line, "dispatch %" SCNx64 " %" SCNx64, &begin, &end) == 2) {
        dispatching = (code_range *)resized(dispatching, (dispatching_count + 1) * sizeof *dispatching);
        dispatching[dispatching_count++] = (code_range){begin, end};
    } else if (sscanf(line, "entry %" SCNx64, &begin) == 1) {
        entries = (uint64_t *)resized(entries, (entry_count + 1) * sizeof *entries);
        entries[entry_count++] = begin;
    } else if (sscanf(line, "next %" SCNd64, &layer) == 1 && layer >= NO_LAYER) {
        layer_of_call = (int64_t *)resized(layer_of_call, (layer_call_count + 1) * sizeof *layer_of_call);
        layer_of_call[layer_call_count++] = layer;
        slots = (size_t)(2 + layer) > slots ? (size_t)(2 + layer) : slots;
    } else {
        return 0;
    }
    return 1;
}

static int read_layers(const char *path) {
    FILE *file = fopen(path, "r");
    char line[128];
    int ok = file != NULL;
    while (ok && fgets(line, sizeof line, file) != NULL) {
        ok = read_line(line);
    }
    if (file != NULL) {
        fclose(file);
    }
    return ok;
}

static int read_code(const char *path) {
    FILE *file = fopen(path, "rb");
    size_t got = 0;
    do {
        code = (uint8_t *)resized(code, (size_t)code_bytes + 4096);
        got = file == NULL ? 0 : fread(code + code_bytes, 1, 4096, file);
        code_bytes += got;
    } while (got > 0);
    if (file != NULL) {
        fclose(file);
    }
    return code_bytes > 0;
}

/* The value of `argument` where it is `name=value`, else null. */
static const char *value_of(const char *argument, const char *name) {
    const size_t length = strlen(name);
    return strncmp(argument, name, length) == 0 && argument[length] == '=' ? argument + length + 1 : NULL;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info *info, int argc, char **argv) {
    if (info->version.cur >= USER_DATA_VERSION && ARN_QEMU_PLUGIN_VERSION < USER_DATA_VERSION) { /* in the words of QEMU */
        fprintf(stderr, "qemu_count: plugin requires API version %d, but this QEMU supports only a minimum version of %d\n",
                ARN_QEMU_PLUGIN_VERSION, USER_DATA_VERSION);
        return 1;
    }
    for (int i = 0; i < argc; ++i) {
        const char *value;
        if ((value = value_of(argv[i], "call")) != NULL) {
            call_address = strtoull(value, NULL, 0) & ~1ull;
        } else if ((value = value_of(argv[i], "return")) != NULL) {
            return_address = strtoull(value, NULL, 0) & ~1ull;
        } else if ((value = value_of(argv[i], "output")) != NULL) {
            output = fopen(value, "w");
        } else if ((value = value_of(argv[i], "begin")) != NULL) {
            code_begin = strtoull(value, NULL, 0);
        } else if (((value = value_of(argv[i], "code")) != NULL && !read_code(value)) ||
                   ((value = value_of(argv[i], "layers")) != NULL && !read_layers(value))) {
            fprintf(stderr, "qemu_count: %s cannot be read\n", value);
            return 1;
        }
    }
    if (call_address == 0 || return_address == 0 || output == NULL) {
        fprintf(stderr, "qemu_count: needs call=, return= and output= of a file that can be written\n");
        return 1;
    }
    register_callbacks(id);
    return 0;
}
