/* Compiled into the kernels' library: where the undefined-behaviour sanitizer writes to (it reads its environment variable from the process's
 * initial environment, too early for a test), and something for it to find. */
const char *__ubsan_default_options(void);
int overflow(int a);

const char *__ubsan_default_options(void) {
    return "log_path=" UBSAN_LOG;
}

int overflow(int a) {
    return a + 1;
}
