/* MinHash signatures of documents, and the keys of their bands. The ideas and their papers: stages/text/minhash.py. */
#include <stdlib.h>
#include <string.h>

#include "gram.h"
#include "json/fields.h"
#include "level.h"

/* An empty bin tries others in an order of its own: turn 1, 2, … */
static uint8_t bin_tried(uint64_t bin, uint64_t turn) { return spread(((bin << 32) + turn) * BASE) >> BIN_SHIFT; }

enum { FEW = 24 }; /* bins taken below which looking up who comes first is quicker than trying */

/* turns[other * BINS + bin]: at which turn the empty `bin` first tries `other`. */
API void assay_minhash_turns(uint16_t *turns) {
    memset(turns, 0, sizeof(uint16_t) * BINS * BINS);
    for (uint64_t bin = 0; bin < BINS; bin++)
        for (uint64_t turn = 1, seen = 0; seen < BINS && turn <= UINT16_MAX; turn++) {
            uint16_t *first = turns + bin_tried(bin, turn) * BINS + bin;
            if (!*first) *first = (uint16_t)turn, seen++;
        }
}

static void borrow(uint32_t *bins, const uint16_t *turns) {
    uint8_t taken[BINS];
    int count = 0;
    for (int bin = 0; bin < BINS; bin++)
        if (bins[bin] != EMPTY) taken[count++] = (uint8_t)bin;
    if (count == BINS) return;
    uint32_t own[BINS];
    memcpy(own, bins, sizeof own);
    if (count < FEW) {
        uint16_t soonest[BINS];
        memset(soonest, 0xFF, sizeof soonest);
        for (int at = 0; at < count; at++) {
            const uint16_t *turn = turns + taken[at] * BINS;
            uint32_t value = own[taken[at]];
            for (int bin = 0; bin < BINS; bin++) {
                bins[bin] = turn[bin] < soonest[bin] ? value : bins[bin];
                soonest[bin] = turn[bin] < soonest[bin] ? turn[bin] : soonest[bin];
            }
        }
        for (int at = 0; at < count; at++) bins[taken[at]] = own[taken[at]];
        return;
    }
    for (uint64_t bin = 0; bin < BINS; bin++) {
        if (own[bin] != EMPTY) continue;
        uint64_t turn = 1;
        while (own[bin_tried(bin, turn)] == EMPTY) turn++;
        bins[bin] = own[bin_tried(bin, turn)];
    }
}

static void sign(const uint8_t *plain, size_t count, const uint16_t *turns, HashGrams *hash_grams, uint32_t *bins) {
    memset(bins, 0xFF, sizeof(uint32_t) * BINS);
    if (count < WIDTH) {
        /* Shorter than one gram: the document itself is its only gram. */
        uint64_t rolling = 0;
        for (size_t at = 0; at < count; at++) rolling = rolling * BASE + plain[at] + 1;
        keep_least(bins, spread(rolling + count));
    } else
        hash_grams(plain, count, bins);
    borrow(bins, turns);
}

static Normalise *normaliser(void) {
#if defined(__x86_64__)
    if (assay_level() == LEVEL_AVX512) return normalise_avx512;
    if (assay_level() == LEVEL_AVX2) return normalise_avx2;
#endif
    return normalise_scalar;
}

static HashGrams *hasher(void) {
#if defined(__x86_64__)
    if (assay_level() == LEVEL_AVX512) return hash_grams_avx512;
    if (assay_level() == LEVEL_AVX2) return hash_grams_avx2;
#endif
    return hash_grams_scalar;
}

/* A row of BINS numbers for each document i, which is data[starts[i] .. ends[i]]; where `escaped[i]` is not 0, this is
   the inside of a JSON string (`escaped` may be NULL). Gives how many were signed: fewer than `documents` if memory is
   short, a range is none or an escape is broken. */
API int64_t assay_minhash_sign(const uint8_t *data, const int64_t *starts, const int64_t *ends, const uint8_t *escaped,
                               int64_t documents, const uint16_t *turns, uint32_t *rows) {
    Normalise *normalise = normaliser();
    HashGrams *hash_grams = hasher();
    int64_t longest = 0;
    for (int64_t at = 0; at < documents; at++) {
        if (starts[at] < 0 || ends[at] < starts[at]) return 0;
        if (ends[at] - starts[at] > longest) longest = ends[at] - starts[at];
    }
    uint8_t *plain = malloc((size_t)longest + SLACK), *text = malloc((size_t)longest + SLACK);
    int64_t at = 0;
    for (; plain && text && at < documents; at++) {
        const uint8_t *from = data + starts[at];
        int64_t size = ends[at] - starts[at];
        if (escaped && escaped[at]) {
            size = assay_json_unescape(from, from + size, text);
            from = text;
        }
        if (size < 0) break;
        size_t count = normalise(from, (size_t)size, plain);
        sign(plain, count, turns, hash_grams, rows + at * BINS);
    }
    free(plain), free(text);
    return at;
}

/* Keys of the bands of each document: a key is the bins of its band, spread into 64 bits one after the other. All bands
   take a bin, then all the next: a band alone would wait for its own multiplications. `bands` divides BINS. */
API void assay_minhash_band_keys(const uint32_t *rows, int64_t documents, int64_t bands, uint64_t *keys) {
    int64_t size = BINS / bands;
    for (int64_t at = 0; at < documents; at++, rows += BINS, keys += bands) {
        for (int64_t band = 0; band < bands; band++) keys[band] = (uint64_t)band + 1;
        for (int64_t bin = 0; bin < size; bin++)
            for (int64_t band = 0; band < bands; band++) keys[band] = spread(keys[band] ^ rows[band * size + bin]);
    }
}
