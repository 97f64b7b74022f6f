/* Documents as near-duplicate search reads them: normalised, cut into grams, signed; at every level alike. The input is
   cut into documents at bytes 255, which no UTF-8 has. */
#include "../check.h"

enum { BINS = 256, MOST = 16 };
void assay_minhash_turns(uint16_t *turns);
int64_t assay_minhash_sign(const uint8_t *data, const int64_t *starts, const int64_t *ends, int64_t documents,
                           const uint16_t *turns, uint32_t *rows);

int LLVMFuzzerTestOneInput(const uint8_t *given, size_t size) {
    static uint16_t *turns;
    if (!turns) turns = malloc(sizeof *turns * BINS * BINS), assay_minhash_turns(turns);
    int64_t starts[MOST], ends[MOST], documents = 0, start = 0;
    for (size_t at = 0; at <= size && documents < MOST; at++)
        if (at == size || given[at] == 255) {
            starts[documents] = start;
            ends[documents++] = (int64_t)at;
            start = (int64_t)at + 1;
        }
    uint8_t *data = copied_with(given, size, 0);
    uint32_t rows[2][MOST * BINS];
    int highest = assay_limit_level(2);
    HOLDS(assay_minhash_sign(data, starts, ends, documents, turns, rows[0]) == documents);
    for (int level = highest - 1; level >= 0; level--) {
        assay_limit_level(level);
        HOLDS(assay_minhash_sign(data, starts, ends, documents, turns, rows[1]) == documents);
        HOLDS(!memcmp(rows[0], rows[1], sizeof **rows * BINS * (size_t)documents));
    }
    free(data);
    return 0;
}
