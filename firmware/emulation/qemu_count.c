/* QEMU TCG plugin: counts the instructions of every measured call (firmware/cortex_m/measured_call.S), exactly.
 *
 *     -plugin libqemu_count.so,call=0xADDRESS,return=0xADDRESS,output=FILE
 *
 * FILE gets one decimal number a line: the instructions executed between each execution of `call` and of `return`, in order; instructions
 * in [call, return), the trampoline itself, are not counted. Both addresses begin a translation block, because they are entered by a
 * branch, so counting whole blocks is exact. (A block ends early only where its last instruction raises an exception.)
 *
 * QEMU's plugin interface is declared here, as far as it is used, so that no header of QEMU is needed. These functions have had these
 * signatures since QEMU 4.2; what differs is the interface version that a plugin must state: 1 before QEMU 9, at least 2 from there on.
 * The build passes it as ARN_QEMU_PLUGIN_VERSION. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ARN_QEMU_PLUGIN_VERSION
#error "define ARN_QEMU_PLUGIN_VERSION: 1 for QEMU before 9, 2 from QEMU 9 on"
#endif

#define EXPORTED __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;

enum { QEMU_PLUGIN_CB_NO_REGS = 0 };

extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*callback)(unsigned int vcpu, void *user), int flags,
                                                 void *user);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t id, void *user), void *user);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);

EXPORTED extern int qemu_plugin_version;
int qemu_plugin_version = ARN_QEMU_PLUGIN_VERSION;

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

/* One guest CPU runs, so plain variables do. */
static uint64_t call_address, return_address;
static uint64_t instructions; /* of the call under way */
static int counting;
static FILE *output;

static void on_call(unsigned int vcpu, void *user) {
    (void)vcpu;
    (void)user;
    instructions = 0;
    counting = 1;
}

static void on_return(unsigned int vcpu, void *user) {
    (void)vcpu;
    (void)user;
    if (counting) {
        fprintf(output, "%llu\n", (unsigned long long)instructions);
    }
    counting = 0;
}

static void on_block(unsigned int vcpu, void *user) {
    (void)vcpu;
    instructions += (uint64_t)(uintptr_t)user;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    const uint64_t address = qemu_plugin_tb_vaddr(tb);
    if (address == call_address) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_call, QEMU_PLUGIN_CB_NO_REGS, NULL);
    } else if (address == return_address) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_return, QEMU_PLUGIN_CB_NO_REGS, NULL);
    } else if (address < call_address || address > return_address) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)qemu_plugin_tb_n_insns(tb));
    }
}

static void on_exit_of_emulator(qemu_plugin_id_t id, void *user) {
    (void)id;
    (void)user;
    fclose(output);
}

/* The value of `argument` where it is `name=value`, else null. */
static const char *value_of(const char *argument, const char *name) {
    const size_t length = strlen(name);
    return strncmp(argument, name, length) == 0 && argument[length] == '=' ? argument + length + 1 : NULL;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
    (void)info;
    for (int i = 0; i < argc; ++i) {
        const char *value;
        if ((value = value_of(argv[i], "call")) != NULL) {
            call_address = strtoull(value, NULL, 0) & ~1ull;
        } else if ((value = value_of(argv[i], "return")) != NULL) {
            return_address = strtoull(value, NULL, 0) & ~1ull;
        } else if ((value = value_of(argv[i], "output")) != NULL) {
            output = fopen(value, "w");
        }
    }
    if (call_address == 0 || return_address == 0 || output == NULL) {
        fprintf(stderr, "qemu_count: needs call=, return= and output= of a file that can be written\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit_of_emulator, NULL);
    return 0;
}
