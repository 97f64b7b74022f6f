/* What the caller asks for, as `stages/alm/kernel.py` hands it over. */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct { const char *names; size_t size; } Drop; /* names, each followed by a 0 */

typedef struct {
    uint64_t serial; /* tells one set of parameters from another at the same address */
    double lo, hi, min_rate, min_bandwidth, threshold, target;
    int64_t min_speakers, max_speakers;
    int32_t truncation, keep_segments;
    Drop drop, drop_top;
} Parameters;

#define EXACT 9007199254740992.0 /* sums of integers up to here lose no digit in a double; larger ones are Python's to do */
