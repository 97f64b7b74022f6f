/* Keys of the documents of one split, put into buckets by their upper bits: the keys of a range of buckets are one
   slice. Within a bucket they are in the order of the documents. */
#pragma once
#include <stdint.h>

enum { BUCKET_BITS = 12, BUCKETS = 1 << BUCKET_BITS };

struct key_part {
    const uint64_t *keys;
    const uint32_t *rows;  /* of the split: which document has the key */
    const int64_t *starts; /* BUCKETS + 1: bucket b is keys[starts[b] .. starts[b + 1]] */
    uint64_t split;        /* upper half of the numbers of its documents; the row is the lower */
};
