/* Documents as near-duplicate search reads them: normalised, cut into grams, signed; at every level alike. The input is
   cut into documents at bytes 255, which no UTF-8 has; every other one is the inside of a JSON string. */
#include "../check.h"

enum { BINS = 256, MOST = 16 };
void assay_minhash_turns(uint16_t *turns);
int64_t assay_minhash_sign(const uint8_t *data, const int64_t *starts, const int64_t *ends, const uint8_t *escaped,
                           int64_t documents, const uint16_t *turns, uint32_t *rows);

int LLVMFuzzerTestOneInput(const uint8_t *given, size_t size) {
    static uint16_t *turns;
    if (!turns) turns = malloc(sizeof *turns * BINS * BINS), assay_minhash_turns(turns);
    int64_t starts[MOST], ends[MOST], documents = 0, start = 0;
    uint8_t escaped[MOST];
    for (size_t at = 0; at <= size && documents < MOST; at++)
        if (at == size || given[at] == 255) {
            starts[documents] = start;
            escaped[documents] = documents & 1;
            ends[documents++] = (int64_t)at;
            start = (int64_t)at + 1;
        }
    uint8_t *data = copied_with(given, size, 0);
    uint32_t rows[2][MOST * BINS];
    int highest = assay_limit_level(2);
    int64_t signed_ = assay_minhash_sign(data, starts, ends, escaped, documents, turns, rows[0]);
    HOLDS(signed_ >= 0 && signed_ <= documents);
    for (int level = highest - 1; level >= 0; level--) {
        assay_limit_level(level);
        HOLDS(assay_minhash_sign(data, starts, ends, escaped, documents, turns, rows[1]) == signed_);
        HOLDS(!memcmp(rows[0], rows[1], sizeof **rows * BINS * (size_t)signed_));
    }
    free(data);
    return 0;
}
