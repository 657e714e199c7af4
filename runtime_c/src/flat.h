/* Reading FlatBuffers in place, without generated code.
 *
 * Two halves: flat_check_… verify one table or vector of an untrusted file; the other functions read what has been verified. A table is
 * 4-byte aligned; it begins with the distance back to its vtable, which holds its own size, the table's, and for every field the
 * offset in the table, 0 for one that has its default. References are distances forward. https://flatbuffers.dev/internals */
#ifndef ARENITE_FLAT_H
#define ARENITE_FLAT_H

#include <stdint.h>
#include <string.h>

#include "flat_fields.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "models are used in place and are little-endian: this target is not"
#endif

/* What one knows of a field: a scalar is its width in bytes; references are flagged, a vector with the size of its elements. */
#define FLAT_TABLE_REF      0x40
#define FLAT_STRING         0x20
#define FLAT_VECTOR(stride) (0x80 | (stride))

/* Single loads, whatever the optimization and with -ffreestanding too, where memcpy would be a call. Nothing is read before it is known
 * to be aligned; the file may be declared as bytes, which is what may_alias allows for. */
#if defined(__GNUC__) || defined(__clang__)
typedef uint16_t __attribute__((may_alias)) flat_word16;
typedef uint32_t __attribute__((may_alias)) flat_word32;
#else
typedef uint16_t flat_word16;
typedef uint32_t flat_word32;
#endif

static inline uint16_t flat_u16(const uint8_t *at) {
    return *(const flat_word16 *)(const void *)at;
}

static inline uint32_t flat_u32(const uint8_t *at) {
    return *(const flat_word32 *)(const void *)at;
}

static inline int32_t flat_i32(const uint8_t *at) {
    return (int32_t)flat_u32(at);
}

#define FLAT_MAX_FIELDS 13 /* of a table of the schema */

/* An untrusted file; `visits` bounds the work that shared (hence few, and small) tables can cause. */
typedef struct flat_file {
    const uint8_t *data;
    uint32_t size; /* at most 2^31 - 1 */
    uint32_t visits;
    const uint8_t *fields[FLAT_MAX_FIELDS]; /* of the table that was checked last; null where it has the default */
} flat_file;

/* 1 if the table at `table` and the fields in `kinds` (by number; further ones are not looked at) lie inside the file: scalars entirely,
 * vectors and strings with their contents, tables with their first word. Fills file->fields. */
int flat_check_table(flat_file *file, uint32_t table, const uint8_t *kinds, uint32_t count);

/* 1 if a string or a vector of `stride` bytes an element is at `at`. `terminated`: a zero byte follows. */
int flat_check_vector(const flat_file *file, uint32_t at, uint32_t stride, int terminated);

/* Position that the reference at `at` refers to, 4-byte aligned with a word inside the file; 0 if there is none. */
uint32_t flat_check_reference(const flat_file *file, uint32_t at);

/* A field of a verified table; null where it has its default. */
const uint8_t *flat_field(const uint8_t *table, uint32_t number);

/* For fields that are read at every invocation: the table's vtable is looked at once, and nothing is called. */
static inline const uint8_t *flat_vtable(const uint8_t *table) {
    return table - flat_i32(table);
}

/* Offset of a field in its table; 0 where it has its default. */
static inline uint32_t flat_offset(const uint8_t *vtable, uint32_t number) {
    return 4 + 2 * number < flat_u16(vtable) ? flat_u16(vtable + 4 + 2 * number) : 0;
}

/* What the reference at `offset` in the table leads to. */
static inline const uint8_t *flat_follow(const uint8_t *table, uint32_t offset) {
    return table + offset + flat_u32(table + offset);
}

static inline uint32_t flat_get_u8(const uint8_t *table, uint32_t number, uint32_t absent) {
    const uint8_t *field = flat_field(table, number);
    return field != NULL ? *field : absent;
}

static inline uint32_t flat_get_u16(const uint8_t *table, uint32_t number) {
    const uint8_t *field = flat_field(table, number);
    return field != NULL ? flat_u16(field) : 0;
}

static inline uint32_t flat_get_u32(const uint8_t *table, uint32_t number, uint32_t absent) {
    const uint8_t *field = flat_field(table, number);
    return field != NULL ? flat_u32(field) : absent;
}

static inline int32_t flat_get_i32(const uint8_t *table, uint32_t number, int32_t absent) {
    return (int32_t)flat_get_u32(table, number, (uint32_t)absent);
}

/* The table that a field refers to; null where it is absent. */
static inline const uint8_t *flat_get_table(const uint8_t *table, uint32_t number) {
    const uint8_t *field = flat_field(table, number);
    return field != NULL ? field + flat_u32(field) : NULL;
}

/* A vector or string: the number of elements, then the elements. An absent one is empty. */
const uint8_t *flat_get_vector(const uint8_t *table, uint32_t number);

static inline uint32_t flat_length(const uint8_t *vector) {
    return flat_u32(vector);
}

static inline int32_t flat_i32_at(const uint8_t *vector, uint32_t index) {
    return flat_i32(vector + 4 + 4 * index);
}

static inline const uint8_t *flat_table_at(const uint8_t *vector, uint32_t index) {
    const uint8_t *reference = vector + 4 + 4 * index;
    return reference + flat_u32(reference);
}

#endif
