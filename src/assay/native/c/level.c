#include "level.h"

static int highest(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq"))
        return LEVEL_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        return LEVEL_AVX2;
#endif
    return LEVEL_SCALAR;
}

static int chosen = -1;

API int assay_level(void) {
    if (chosen < 0) chosen = highest();
    return chosen;
}

/* At most `most`, and never more than the processor has. For tests, and for people who doubt a vector version. */
API int assay_limit_level(int most) {
    int level = highest();
    chosen = most < 0 ? LEVEL_SCALAR : most < level ? most : level;
    return chosen;
}

/* Digest of the sources that this library was made from: stale libraries can be told from fresh ones. */
API const char *assay_sources(void) { return ASSAY_SOURCES; }
