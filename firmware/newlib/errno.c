/* newlib's errno lies in a structure of some hundred bytes of RAM, with the state of stdio. libm sets it and nothing here reads it: a word
 * will do. Dropped from images that use no libm. */
int *__errno(void);

int *__errno(void) {
    static int value;
    return &value;
}
