#include <string.h>

#include "key_part.h"
#include "level.h"

API int64_t assay_pairs_buckets(void) { return BUCKETS; }

/* keys: `per_document` of each document, one document after the other. A counting sort by the upper bits, which keeps
   the order of the documents. Gives 0, or -1 if there are more documents than a row can number. */
API int64_t assay_pairs_partition(const uint64_t *keys, int64_t documents, int64_t per_document, uint64_t *sorted,
                                  uint32_t *rows, int64_t *starts) {
    if (documents < 0 || per_document < 1 || documents > UINT32_MAX) return -1;
    int64_t next[BUCKETS] = {0}, total = documents * per_document;
    for (int64_t at = 0; at < total; at++) next[keys[at] >> (64 - BUCKET_BITS)]++;
    int64_t sum = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        int64_t size = next[bucket];
        starts[bucket] = next[bucket] = sum;
        sum += size;
    }
    starts[BUCKETS] = sum;
    for (int64_t document = 0; document < documents; document++)
        for (int64_t at = document * per_document; at < (document + 1) * per_document; at++) {
            int64_t to = next[keys[at] >> (64 - BUCKET_BITS)]++;
            sorted[to] = keys[at];
            rows[to] = (uint32_t)document;
        }
    return 0;
}
