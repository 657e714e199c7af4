/* Words that an assembly kernel needs now and then: in registers of the floating-point unit where there is one, one cycle away, else on
 * the stack. `place` is a number; functions reserve FRAME_BYTES(places) below sp. For sources that are preprocessed assembly. */
#ifndef ARN_DSP_FRAME_H
#define ARN_DSP_FRAME_H

#if defined(__ARM_FP)
#define FRAME_KEEP(register, place) vmov s##place, register
#define FRAME_TAKE(register, place) vmov register, s##place
#define FRAME_BYTES(places)         0
#else
#define FRAME_KEEP(register, place) str register, [ sp, #4 * place ]
#define FRAME_TAKE(register, place) ldr register, [ sp, #4 * place ]
#define FRAME_BYTES(places)         ((4 * (places) + 4) & ~7)
#endif

#define KEEP(register, place) FRAME_KEEP(register, place)
#define TAKE(register, place) FRAME_TAKE(register, place)

#endif
