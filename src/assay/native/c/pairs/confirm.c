#include "level.h"
#include <stdint.h>

/* alike[i]: whether the proofs of documents first[i] and second[i] agree in at least `least` of their `width` numbers.
   proofs[s]: those of split s, one row of `width` a document. Gives how many are alike. */
API int64_t assay_pairs_confirm(const uint32_t *const *proofs, int64_t width, const uint64_t *first,
                                const uint64_t *second, int64_t count, int64_t least, uint8_t *alike) {
    int64_t kept = 0;
    for (int64_t at = 0; at < count; at++) {
        const uint32_t *one = proofs[first[at] >> 32] + (first[at] & UINT32_MAX) * width;
        const uint32_t *other = proofs[second[at] >> 32] + (second[at] & UINT32_MAX) * width;
        int32_t equal = 0;
        for (int64_t bin = 0; bin < width; bin++) equal += one[bin] == other[bin];
        kept += alike[at] = equal >= least;
    }
    return kept;
}
