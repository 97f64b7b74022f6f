/* Which vector instructions the loops of this library use. Each loop has a scalar version, which is always right, and
   may have others in files named LOOP.avx2.c and LOOP.avx512.c (built only for x86-64, see build.py). */
#pragma once

#define API __attribute__((visibility("default")))

enum { LEVEL_SCALAR, LEVEL_AVX2, LEVEL_AVX512 };

/* The highest level that both the processor has and nobody has forbidden. */
int assay_level(void);
