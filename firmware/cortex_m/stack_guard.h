/* Makes an overflowing stack fault on boards whose memory map answers below the RAM: the memory protection unit closes what lies there.
 * ARMv7-M ARM B3.5. Cortex-M3, M4 and M7, as far as they have an MPU. */
#ifndef ARN_STACK_GUARD_H
#define ARN_STACK_GUARD_H

#include <stdint.h>

#define MPU_CONTROL   (*(volatile uint32_t *)0xE000ED94u)
#define MPU_REGION    (*(volatile uint32_t *)0xE000ED98u)
#define MPU_BASE      (*(volatile uint32_t *)0xE000ED9Cu)
#define MPU_ATTRIBUTE (*(volatile uint32_t *)0xE000EDA0u)
#define MPU_ENABLE    (1u | 1u << 2)  /* and the default map elsewhere */
#define MPU_NO_ACCESS (1u << 28 | 1u) /* no execution, no rights, enabled */

/* Closes the 2^size_log2 bytes at `base`, which is a multiple of that. `size_log2` is at least 5. */
static inline void guard_stack(uint32_t base, uint32_t size_log2) {
    MPU_REGION = 0;
    MPU_BASE = base;
    MPU_ATTRIBUTE = MPU_NO_ACCESS | (size_log2 - 1) << 1;
    MPU_CONTROL = MPU_ENABLE;
    __asm volatile("dsb\n\tisb" ::: "memory");
}

#endif
