#include "keys/digest.h"

#include <string.h>

#include "json/fields.h"
#include "level.h"

#define PRIME (((wide)1 << 127) - 1)

/* 2^127 is 1 in this field, so what stands above bit 127 is added below. */
static wide folded(wide sum) {
    sum = (sum & PRIME) + (sum >> 127);
    return sum >= PRIME ? sum - PRIME : sum;
}

static wide times(wide a, wide b) {
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    wide middle = (wide)a0 * b1 + (wide)a1 * b0;
    wide low = (wide)a0 * b0, high = (wide)a1 * b1 + (middle >> 64);
    wide sum = low + (middle << 64);
    high += sum < low;
    return folded((sum & PRIME) + (high << 1 | sum >> 127));
}

void digest_prepare(const uint8_t key[DIGEST_KEY], struct digest_key *made) {
    wide point;
    memcpy(&point, key, 16);
    point = folded(point);
    made->low = (uint64_t)point;
    made->high = (uint64_t)(point >> 64);
    memcpy(made->words, key + 16, sizeof made->words);
    made->nh = nh_scalar;
#if defined(__x86_64__)
    if (assay_level() >= LEVEL_AVX2) made->nh = nh_avx2;
#endif
}

/* The length comes last, so that zeros at the end of a text count. */
struct digest digest_of(const struct digest_key *key, const uint8_t *text, size_t size) {
    wide point = (wide)key->high << 64 | key->low, value = 0;
    for (size_t at = 0; at < size; at += DIGEST_BLOCK) {
        struct nh_sums sums = key->nh(key->words, text + at, size - at < DIGEST_BLOCK ? size - at : DIGEST_BLOCK);
        value = folded(times(value, point) + (uint64_t)sums.one);
        value = folded(times(value, point) + (uint64_t)(sums.one >> 64));
        value = folded(times(value, point) + (uint64_t)sums.other);
        value = folded(times(value, point) + (uint64_t)(sums.other >> 64));
    }
    value = folded(times(value, point) + size);
    return (struct digest){(uint64_t)value, (uint64_t)(value >> 64)};
}

/* Numbers moved up by as much each. */
API void assay_shift(int64_t *numbers, int64_t count, int64_t by) {
    for (int64_t i = 0; i < count; i++) numbers[i] += by;
}

API int64_t assay_digests(const uint8_t *data, size_t size, const int64_t *values, const uint8_t *kinds, int64_t rows,
                          const uint8_t key[DIGEST_KEY], uint8_t *scratch, int64_t room, struct digest *to) {
    struct digest_key prepared;
    int64_t others = 0;
    digest_prepare(key, &prepared);
    for (int64_t i = 0; i < rows; i++) {
        int64_t start = values[2 * i], end = values[2 * i + 1];
        if (start < 0 || end < start || (uint64_t)end > size) return -1;
        const uint8_t *text = data + start;
        int64_t length = end - start;
        switch (kinds[i]) {
            case FIELD_ESCAPED:
                if (length > room) return -1;
                length = assay_json_unescape(text, text + length, scratch);
                if (length < 0) return -1;
                text = scratch;
                break;
            case FIELD_PLAIN: case FIELD_INTEGER: break;
            case FIELD_NULL: length = 0; break;
            default:
                others++;
                to[i] = (struct digest){0, 0};
                continue;
        }
        to[i] = digest_of(&prepared, text, (size_t)length);
    }
    return others;
}

API int64_t assay_digests_in_range(const struct digest *digests, int64_t rows, int64_t first, int64_t range,
                                   int64_t ranges, struct digest *to, int64_t *numbers) {
    int64_t count = 0;
    for (int64_t i = 0; i < rows; i++) {
        /* The upper half of a digest has 63 bits. */
        if ((int64_t)((wide)digests[i].high * (uint64_t)ranges >> 63) != range) continue;
        to[count] = digests[i];
        numbers[count++] = first + i;
    }
    return count;
}

API int64_t assay_repeats(const struct digest *digests, const int64_t *numbers, int64_t rows, int64_t *slots,
                          int64_t count, int64_t *pairs) {
    int64_t found = 0;
    if (count <= rows || (count & (count - 1))) return -1;
    for (int64_t i = 0; i < rows; i++) {
        uint64_t at = digests[i].low & (uint64_t)(count - 1);
        while (slots[at]) {
            const struct digest *other = &digests[slots[at] - 1];
            if (other->low == digests[i].low && other->high == digests[i].high) break;
            at = (at + 1) & (uint64_t)(count - 1);
        }
        if (slots[at]) {
            pairs[2 * found] = numbers[slots[at] - 1];
            pairs[2 * found + 1] = numbers[i];
            found++;
        } else {
            slots[at] = i + 1;
        }
    }
    return found;
}
