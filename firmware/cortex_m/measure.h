/* Measures one call: stack by painting, time by SysTick. Instructions are counted from outside, see measured_call.S. */
#ifndef ARN_MEASURE_H
#define ARN_MEASURE_H

#include <stdint.h>

typedef struct measurement {
    uint32_t stack_bytes; /* high-water mark of the function and what it calls, its own frame included */
    uint32_t ticks;       /* of SysTick; 0 where it wrapped (2^24 ticks) */
} measurement;

/* Calls `function` and returns what it returns. Overwrites the unused part of the stack. */
int measure(int (*function)(void), measurement *result);

#endif
