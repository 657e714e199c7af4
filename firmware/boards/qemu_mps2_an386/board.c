#include "board.h"

#include "semihosting.h"

/* Memory protection unit, ARMv7-M ARM B3.5. */
#define MPU_CONTROL   (*(volatile uint32_t *)0xE000ED94u)
#define MPU_REGION    (*(volatile uint32_t *)0xE000ED98u)
#define MPU_BASE      (*(volatile uint32_t *)0xE000ED9Cu)
#define MPU_ATTRIBUTE (*(volatile uint32_t *)0xE000EDA0u)
#define MPU_ENABLE    (1u | 1u << 2)             /* and the default map elsewhere */
#define NO_ACCESS     (1u << 28 | 23u << 1 | 1u) /* no execution, no rights, 2^(23 + 1) bytes, enabled */

void board_init(void) {
    /* What lies below the RAM, and so below the stack, takes writes and answers zero. Let it fault. */
    MPU_REGION = 0;
    MPU_BASE = 0x1F000000u;
    MPU_ATTRIBUTE = NO_ACCESS;
    MPU_CONTROL = MPU_ENABLE;
    __asm volatile("dsb\n\tisb" ::: "memory");
}

void board_print(const char *text) {
    semihosting_print(text);
}

void board_exit(uint32_t status) {
    semihosting_exit(status);
}
