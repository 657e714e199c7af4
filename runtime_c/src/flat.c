#include "flat.h"

int flat_check_vector(const flat_file *file, uint32_t at, uint32_t stride, int terminated) {
    const uint32_t room = file->size - at - 4; /* a reference is good for a word */
    const uint32_t length = flat_u32(file->data + at);
    const uint64_t bytes = (uint64_t)length * stride;
    if (terminated) {
        return bytes < room && file->data[at + 4 + length] == 0;
    }
    return bytes <= room;
}

uint32_t flat_check_reference(const flat_file *file, uint32_t at) {
    const uint32_t distance = flat_u32(file->data + at);
    const uint32_t target = at + distance;
    return distance <= file->size - at && target <= file->size - 4 && target % 4 == 0 ? target : 0;
}

/* What the reference at `at` refers to, down to a vector's or string's contents. */
static int check_referenced(const flat_file *file, uint32_t at, uint32_t kind) {
    const uint32_t target = flat_check_reference(file, at);
    if (target == 0 || kind == FLAT_TABLE_REF) {
        return target != 0;
    }
    return kind == FLAT_STRING ? flat_check_vector(file, target, 1, 1) : flat_check_vector(file, target, kind & 0x3f, 0);
}

int flat_check_table(flat_file *file, uint32_t table, const uint8_t *kinds, uint32_t count) {
    if (file->visits == 0) {
        return 0;
    }
    file->visits--;
    /* Positions are below 2^31 and the distance is an int32: the difference wraps in no other way than to a huge one. */
    const uint32_t vtable = table - flat_u32(file->data + table);
    if (vtable > file->size - 4 || vtable % 2 != 0) {
        return 0;
    }
    const uint8_t *entry = file->data + vtable;
    const uint32_t vtable_size = flat_u16(entry);
    const uint32_t table_size = flat_u16(entry + 2);
    if (vtable_size < 4 || vtable_size % 2 != 0 || vtable_size > file->size - vtable || table_size > file->size - table) {
        return 0;
    }
    const uint8_t *const end = entry + vtable_size;
    const uint8_t **field = file->fields;
    for (const uint8_t *const last = kinds + count; kinds < last; kinds++, field++) {
        entry += 2;
        const uint32_t offset = entry + 2 < end ? flat_u16(entry + 2) : 0;
        *field = NULL;
        if (offset == 0) {
            continue;
        }
        const uint32_t kind = *kinds;
        const uint32_t width = kind <= 4 ? kind : 4;
        const uint32_t at = table + offset;
        if (offset + width > table_size || (at & (width - 1)) != 0) {
            return 0;
        }
        *field = file->data + at;
        if (kind > 4 && !check_referenced(file, at, kind)) {
            return 0;
        }
    }
    return 1;
}

const uint8_t *flat_field(const uint8_t *table, uint32_t number) {
    const uint8_t *vtable = table - flat_i32(table);
    const uint32_t entry = 4 + 2 * number;
    if (entry >= flat_u16(vtable)) {
        return NULL;
    }
    const uint32_t offset = flat_u16(vtable + entry);
    return offset != 0 ? table + offset : NULL;
}

const uint8_t *flat_get_vector(const uint8_t *table, uint32_t number) {
    static const uint32_t empty = 0;
    const uint8_t *vector = flat_get_table(table, number);
    return vector != NULL ? vector : (const uint8_t *)&empty;
}
