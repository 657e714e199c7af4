/* Counting what inputs hold, in builds that define ARN_CHECK_INPUTS. */
#ifndef ARENITE_INPUT_CHECK_H
#define ARENITE_INPUT_CHECK_H

#include "arenite.h"

#if defined(ARN_CHECK_INPUTS)
/* Adds what the inputs of a session hold now, all of which have memory, to its counts. */
void arn_count_inputs(arn_session *session);
#define ARN_COUNT_INPUTS(session) arn_count_inputs(session)
#else
#define ARN_COUNT_INPUTS(session) ((void)0)
#endif

#endif
