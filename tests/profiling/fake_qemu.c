/* Stands for a QEMU with interface version INTERFACE of its plugins, as QEMU's documentation describes it: loads a plugin and executes a
 * program of blocks, so that a plugin can be run against interfaces that the installed QEMU does not have.
 *
 *     fake_qemu PLUGIN PROGRAM [name=value …]
 *
 * PROGRAM holds a line for each executed block: address (hexadecimal) and number of instructions. A block is translated the first time. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MOST_BLOCKS 64
#define ID          UINT64_C(0x123456789ABCDEF0)

#define MINIMUM (INTERFACE < 2 ? 0 : 2)

typedef struct info {
    const char *target_name;
    struct {
        int min;
        int cur;
    } version;
    bool system_emulation;
    int smp_vcpus;
    int max_vcpus;
} info;

struct qemu_plugin_tb {
    uint64_t address;
    size_t instructions;
    void (*callback)(unsigned int vcpu, void *user);
    void *user;
};

#if INTERFACE >= 7
typedef void (*translated)(struct qemu_plugin_tb *tb, void *user);
typedef void (*exited)(void *user);
#else
typedef void (*translated)(uint64_t id, struct qemu_plugin_tb *tb);
typedef void (*exited)(uint64_t id, void *user);
#endif

static translated on_translation;
static exited on_exit_of_emulator;
static void *user_of_exit;

#if INTERFACE >= 7
static void *user_of_translation;

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translated callback, void *user);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translated callback, void *user) {
    user_of_translation = user;
#else
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translated callback);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translated callback) {
#endif
    on_translation = id == ID ? callback : NULL;
}

void qemu_plugin_register_atexit_cb(uint64_t id, exited callback, void *user);
void qemu_plugin_register_atexit_cb(uint64_t id, exited callback, void *user) {
    on_exit_of_emulator = id == ID ? callback : NULL;
    user_of_exit = user;
}

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*callback)(unsigned int, void *), int flags, void *user);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*callback)(unsigned int, void *), int flags, void *user) {
    tb->callback = flags == 0 ? callback : NULL;
    tb->user = user;
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb) {
    return tb->instructions;
}

uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb) {
    return tb->address;
}

static struct qemu_plugin_tb blocks[MOST_BLOCKS];
static int block_count;

static struct qemu_plugin_tb *block_at(uint64_t address, size_t instructions) {
    for (int i = 0; i < block_count; ++i) {
        if (blocks[i].address == address) {
            return &blocks[i];
        }
    }
    struct qemu_plugin_tb *tb = &blocks[block_count++];
    tb->address = address;
    tb->instructions = instructions;
#if INTERFACE >= 7
    on_translation(tb, user_of_translation);
#else
    on_translation(ID, tb);
#endif
    return tb;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        return 2;
    }
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    const int version = *(const int *)dlsym(plugin, "qemu_plugin_version");
    if (version < MINIMUM || version > INTERFACE) {
        fprintf(stderr, "plugin has version %d, not %d to %d\n", version, MINIMUM, INTERFACE);
        return 3;
    }
    int (*install)(uint64_t, const info *, int, char **);
    *(void **)&install = dlsym(plugin, "qemu_plugin_install");
    const info about = {"arm", {MINIMUM, INTERFACE}, true, 1, 1};
    if (install(ID, &about, argc - 3, argv + 3) != 0) {
        return 4;
    }
    FILE *program = fopen(argv[2], "r");
    uint64_t address;
    size_t instructions;
    while (fscanf(program, "%" SCNx64 " %zu", &address, &instructions) == 2) {
        const struct qemu_plugin_tb *tb = block_at(address, instructions);
        if (tb->callback != NULL) {
            tb->callback(0, tb->user);
        }
    }
    fclose(program);
#if INTERFACE >= 7
    on_exit_of_emulator(user_of_exit);
#else
    on_exit_of_emulator(ID, user_of_exit);
#endif
    return 0;
}
