#include "layer_cycles.h"

#include "arenite_profile.h"

/* Debug and trace, ARMv7-M ARM C1.6 and C1.8. ARMv6-M has no CYCCNT; there, and in emulators, it stands still. */
#define DEBUG_MONITOR (*(volatile uint32_t *)0xE000EDFCu) /* DEMCR */
#define TRACE_ENABLE  (1u << 24)
#define DWT_CONTROL   (*(volatile uint32_t *)0xE0001000u)
#define DWT_COUNT     (1u << 0)
#define DWT_CYCLES    (*(volatile uint32_t *)0xE0001004u)
#define DWT_LOCK      (*(volatile uint32_t *)0xE0001FB0u) /* of the Cortex-M7 */
#define DWT_LOCK_OPEN 0xC5ACCE55u

/* SysTick, ARMv7-M ARM B3.3. */
#define SYSTICK_CONTROL (*(volatile uint32_t *)0xE000E010u)
#define SYSTICK_RELOAD  (*(volatile uint32_t *)0xE000E014u)
#define SYSTICK_CURRENT (*(volatile uint32_t *)0xE000E018u)
#define SYSTICK_MAX     0xFFFFFFu
#define SYSTICK_ENABLE  (1u | 1u << 2) /* processor clock, no interrupt */

static layer_cycles sums[1 + LAYER_CYCLES_MAX]; /* [1 + layer] */
static uint32_t current;                        /* of sums */
static uint32_t begun;
static uint32_t largest;

static uint32_t now(void) {
    return largest == SYSTICK_MAX ? SYSTICK_MAX - SYSTICK_CURRENT : DWT_CYCLES;
}

static int dwt_counts(void) {
    DEBUG_MONITOR |= TRACE_ENABLE;
    DWT_LOCK = DWT_LOCK_OPEN;
    DWT_CYCLES = 0;
    DWT_CONTROL |= DWT_COUNT;
    const uint32_t before = DWT_CYCLES;
    __asm volatile("nop\n\tnop\n\tnop\n\tnop");
    return DWT_CYCLES != before;
}

uint32_t layer_cycles_start(void) {
    for (uint32_t i = 0; i <= LAYER_CYCLES_MAX; ++i) {
        sums[i].cycles = 0;
        sums[i].runs = 0;
    }
    largest = UINT32_MAX;
    if (!dwt_counts()) {
        largest = SYSTICK_MAX;
        SYSTICK_RELOAD = SYSTICK_MAX;
        SYSTICK_CURRENT = 0;
        SYSTICK_CONTROL = SYSTICK_ENABLE;
    }
    current = 0;
    begun = now();
    return largest;
}

static uint32_t place_of(int32_t layer) {
    return layer >= 0 && layer < LAYER_CYCLES_MAX ? 1 + (uint32_t)layer : 0;
}

void arn_layer_begins(int32_t layer) {
    sums[current].cycles += (now() - begun) & largest;
    current = place_of(layer);
    ++sums[current].runs;
    begun = now();
}

layer_cycles layer_cycles_of(int32_t layer) {
    return sums[place_of(layer)];
}
