/* What run_model needs of a model. interpreted.c and compiled.c implement it for the two forms; which of them is built, and the generated
 * app_model.h that names the model, decide what the app runs. */
#ifndef ARN_APP_MODEL_H
#define ARN_APP_MODEL_H

#include <stdint.h>

typedef struct model_port {
    void *data;
    uint32_t bytes;
} model_port;

/* Everything between reset and the first invocation. ARN_OK, or an arn_status. */
int model_open(void);

/* Runs the model once. ARN_OK, or an arn_status. */
int model_invoke(void);

/* After model_open. `index` below the count. */
int model_input_count(void);
int model_output_count(void);
model_port model_input(int index);
model_port model_output(int index);

#endif
