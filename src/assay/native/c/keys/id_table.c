/* A set of ids: a hash table with open addressing. A slot has the number of an id, from 1; 0 is free. Ids are found by
   their digest and compared byte by byte. */
#include <string.h>

#include "json/fields.h"
#include "keys/digest.h"
#include "level.h"

struct id_set {
    const uint8_t *ids; /* id i is ids[offsets[i]..offsets[i+1]) */
    const int64_t *offsets;
    int64_t *slots;
    uint64_t mask;
};

/* The slot of an id, or the free one where it belongs. */
static int64_t *slot_of(const struct id_set *set, const struct digest_key *key, const uint8_t *id, int64_t size) {
    uint64_t at = digest_of(key, id, (size_t)size).low & set->mask;
    for (;; at = (at + 1) & set->mask) {
        int64_t number = set->slots[at];
        if (!number) return &set->slots[at];
        const int64_t *range = &set->offsets[number - 1];
        if (range[1] - range[0] == size && memcmp(set->ids + range[0], id, (size_t)size) == 0) return &set->slots[at];
    }
}

/* Fills `slots` (all zero, a power of two, more than the ids). Returns how many ids differ, or -1 if slots are few. */
API int64_t assay_ids_fill(const uint8_t *ids, const int64_t *offsets, int64_t rows, const uint8_t key[16],
                           int64_t *slots, int64_t count) {
    struct id_set set = {ids, offsets, slots, (uint64_t)count - 1};
    struct digest_key prepared;
    int64_t different = 0;
    if (count <= rows || (count & (count - 1))) return -1;
    digest_prepare(key, &prepared);
    for (int64_t i = 0; i < rows; i++) {
        int64_t *slot = slot_of(&set, &prepared, ids + offsets[i], offsets[i + 1] - offsets[i]);
        if (!*slot) {
            *slot = i + 1;
            different++;
        }
    }
    return different;
}

/* Whether each of `rows` values is in the set: 1 or 0, and 2 where the caller has to see for itself. Values are those
   that assay_json_fields found: strings if `kind` is FIELD_PLAIN, whole numbers if it is FIELD_INTEGER. Returns how
   many are left to the caller, or -1 if a value does not lie in the data, or an escaped one not in the room. */
API int64_t assay_ids_find(const uint8_t *data, size_t size, const int64_t *values, const uint8_t *kinds, int64_t rows,
                           int kind, const uint8_t *ids, const int64_t *offsets, const uint8_t key[16], int64_t *slots,
                           int64_t count, uint8_t *scratch, int64_t room, uint8_t *found) {
    struct id_set set = {ids, offsets, slots, (uint64_t)count - 1};
    struct digest_key prepared;
    int64_t left = 0;
    digest_prepare(key, &prepared);
    for (int64_t i = 0; i < rows; i++) {
        int64_t start = values[2 * i], end = values[2 * i + 1];
        if (start < 0 || end < start || (uint64_t)end > size) return -1;
        const uint8_t *id = data + start;
        int64_t length = end - start;
        if (kinds[i] == FIELD_ESCAPED && kind == FIELD_PLAIN) {
            if (length > room) return -1;
            length = assay_json_unescape(id, id + length, scratch);
            if (length < 0) return -1;
            id = scratch;
        } else if (kinds[i] != kind) {
            found[i] = 2;
            left++;
            continue;
        }
        found[i] = *slot_of(&set, &prepared, id, length) != 0;
    }
    return left;
}
