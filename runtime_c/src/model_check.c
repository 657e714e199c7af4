#include "flat.h"

#include "arenite.h"

/* CRC-32 (IEEE 802.3, reflected), half a byte at a time: 64 bytes of table instead of 1 kB. */
static uint32_t crc32(uint32_t crc, const uint8_t *bytes, uint32_t count) {
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                       0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    for (uint32_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = (crc >> 4) ^ table[crc & 15];
        crc = (crc >> 4) ^ table[crc & 15];
    }
    return crc;
}

arn_status arn_model_check(const arn_model *model) {
    if (model == NULL || model->file == NULL) {
        return ARN_ERROR_ARGUMENT;
    }
    static const uint8_t zero[4] = {0};
    const uint8_t *field = flat_field(model->root, FLAT_MODEL_CHECKSUM);
    if (field == NULL) {
        return ARN_ERROR_CHECKSUM; /* a file that cannot be checked has not been */
    }
    const uint32_t at = (uint32_t)(field - model->file);
    uint32_t crc = crc32(UINT32_MAX, model->file, at);
    crc = crc32(crc, zero, sizeof zero);
    crc = crc32(crc, field + 4, model->size - at - 4);
    return ~crc == flat_u32(field) ? ARN_OK : ARN_ERROR_CHECKSUM;
}
