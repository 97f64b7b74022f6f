/* Pairs of documents that share a key: each document with the first that has its key and with the last before it, which
   is enough to connect all that are alike and never more than two pairs a key. A pair is given once, however many keys
   its documents share. */
#include <stdlib.h>
#include <string.h>

#include "key_part.h"
#include "level.h"

struct pairs {
    uint64_t *first, *second;
    int64_t count, room;
    /* Where a pair stands plus one, or 0: a hash table with linear probing, at most half full. */
    uint32_t *table;
    uint64_t slots;
};

static uint64_t pair_hash(uint64_t first, uint64_t second) {
    uint64_t x = (first * UINT64_C(0x9E3779B97F4A7C15) ^ second) * UINT64_C(0xBF58476D1CE4E5B9);
    return x ^ (x >> 32);
}

static int grow(struct pairs *found) {
    uint64_t slots = found->slots * 2;
    uint32_t *table = calloc(slots, sizeof *table);
    if (!table) return -1;
    for (int64_t at = 0; at < found->count; at++) {
        uint64_t slot = pair_hash(found->first[at], found->second[at]) & (slots - 1);
        while (table[slot]) slot = (slot + 1) & (slots - 1);
        table[slot] = (uint32_t)at + 1;
    }
    free(found->table);
    found->table = table;
    found->slots = slots;
    return 0;
}

static int add_pair(struct pairs *found, uint64_t first, uint64_t second) {
    if (first == second) return 0;
    uint64_t slot = pair_hash(first, second) & (found->slots - 1);
    for (; found->table[slot]; slot = (slot + 1) & (found->slots - 1)) {
        uint32_t at = found->table[slot] - 1;
        if (found->first[at] == first && found->second[at] == second) return 0;
    }
    if (found->count == found->room || found->count == UINT32_MAX - 1) return -1;
    found->first[found->count] = first;
    found->second[found->count] = second;
    found->table[slot] = (uint32_t)++found->count;
    return 2 * (uint64_t)found->count > found->slots ? grow(found) : 0;
}

/* One bucket of all parts, side by side, and for each first document of a key the last one so far. */
struct bucket {
    uint64_t *keys, *documents;
    uint32_t *last, *table;
    uint64_t slots;
};

static int64_t load_bucket(struct bucket *bucket, const struct key_part *parts, int64_t count, int64_t which) {
    int64_t size = 0;
    for (int64_t part = 0; part < count; part++)
        for (int64_t at = parts[part].starts[which]; at < parts[part].starts[which + 1]; at++, size++) {
            bucket->keys[size] = parts[part].keys[at];
            bucket->documents[size] = parts[part].split << 32 | parts[part].rows[at];
        }
    return size;
}

static int add_bucket(struct pairs *found, struct bucket *bucket, int64_t size) {
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)size) slots *= 2;
    memset(bucket->table, 0, slots * sizeof *bucket->table);
    for (int64_t at = 0; at < size; at++) {
        uint64_t key = bucket->keys[at], slot = key & (slots - 1);
        while (bucket->table[slot] && bucket->keys[bucket->table[slot] - 1] != key) slot = (slot + 1) & (slots - 1);
        bucket->last[at] = (uint32_t)at;
        if (!bucket->table[slot]) {
            bucket->table[slot] = (uint32_t)at + 1;
            continue;
        }
        uint32_t leader = bucket->table[slot] - 1, before = bucket->last[leader];
        bucket->last[leader] = (uint32_t)at;
        if (add_pair(found, bucket->documents[leader], bucket->documents[at])) return -1;
        if (before != leader && add_pair(found, bucket->documents[before], bucket->documents[at])) return -1;
    }
    return 0;
}

/* Keys in the largest bucket of a range, all parts together. */
static int64_t largest(const struct key_part *parts, int64_t count, int64_t first, int64_t last) {
    int64_t most = 0;
    for (int64_t which = first; which < last; which++) {
        int64_t size = 0;
        for (int64_t part = 0; part < count; part++) size += parts[part].starts[which + 1] - parts[part].starts[which];
        if (size > most) most = size;
    }
    return most;
}

/* Pairs of buckets [first_bucket, last_bucket) into `first` and `second`, which have `room`: twice the keys is enough.
   Gives how many, or -1 if memory or room is short. */
API int64_t assay_pairs_shared(const struct key_part *parts, int64_t count, int64_t first_bucket, int64_t last_bucket,
                               uint64_t *first, uint64_t *second, int64_t room) {
    if (first_bucket < 0 || last_bucket > BUCKETS) return -1;
    int64_t most = largest(parts, count, first_bucket, last_bucket);
    if (most < 0 || most > UINT32_MAX / 4) return -1;
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)most) slots *= 2;
    size_t entries = (size_t)most + 1;
    struct bucket bucket = {malloc(entries * 8), malloc(entries * 8), malloc(entries * 4), malloc(slots * 4), slots};
    struct pairs found = {first, second, 0, room, calloc(1 << 12, sizeof(uint32_t)), 1 << 12};
    int failed = !bucket.keys || !bucket.documents || !bucket.last || !bucket.table || !found.table;
    for (int64_t which = first_bucket; which < last_bucket && !failed; which++)
        failed = add_bucket(&found, &bucket, load_bucket(&bucket, parts, count, which));
    free(bucket.keys), free(bucket.documents), free(bucket.last), free(bucket.table), free(found.table);
    return failed ? -1 : found.count;
}
