/* What targets need beside the library: a statement that holds, or the input is a finding. */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int assay_level(void);
int assay_limit_level(int most);

#define HOLDS(statement)                                                     \
    do {                                                                     \
        if (!(statement)) {                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #statement);  \
            __builtin_trap();                                                \
        }                                                                    \
    } while (0)

/* Bytes with `more` zeros behind them and nothing after those: what is read beyond is noticed. */
static inline uint8_t *copied_with(const uint8_t *data, size_t size, size_t more) {
    uint8_t *copy = malloc(size + more ? size + more : 1);
    HOLDS(copy);
    if (size) memcpy(copy, data, size);
    memset(copy + size, 0, more);
    return copy;
}
