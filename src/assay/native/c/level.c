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

static _Atomic int chosen = -1; /* threads may ask at once; all of them find the same */

API int assay_level(void) {
    int level = chosen;
    if (level < 0) chosen = level = highest();
    return level;
}

/* At most `most`, and never more than the processor has. For tests, and for people who doubt a vector version. */
API int assay_limit_level(int most) {
    int has = highest(), level = most < 0 ? LEVEL_SCALAR : most < has ? most : has;
    chosen = level;
    return level;
}

/* Digest of the sources that this library was made from: stale libraries can be told from fresh ones. */
API const char *assay_sources(void) { return ASSAY_SOURCES; }
