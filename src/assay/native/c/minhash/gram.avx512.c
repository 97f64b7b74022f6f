#include <immintrin.h>

#include "gram.h"

/* 64 bytes at a time. A chunk with a repeated space ends before it, and the next one starts behind it. */
size_t normalise_avx512(const uint8_t *text, size_t length, uint8_t *plain) {
    const __m512i space = _mm512_set1_epi8(' '), upper = _mm512_set1_epi8('A'), case_bit = _mm512_set1_epi8(32);
    const __m512i letters = _mm512_set1_epi8(26);
    size_t count = 0;
    uint64_t last = 1; /* whether the byte before this chunk is a space */
    for (size_t at = 0; at < length;) {
        size_t size = length - at < 64 ? length - at : 64;
        uint64_t valid = size < 64 ? (UINT64_C(1) << size) - 1 : ~UINT64_C(0);
        __m512i bytes = _mm512_maskz_loadu_epi8(valid, text + at);
        uint64_t blank = _mm512_cmpeq_epi8_mask(bytes, space) | _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\t')) |
                         _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\n')) |
                         _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\r'));
        uint64_t repeated = blank & (blank << 1 | last);
        uint64_t capital = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, upper), letters);
        bytes = _mm512_mask_add_epi8(bytes, capital, bytes, case_bit);
        bytes = _mm512_mask_blend_epi8(blank, bytes, space);
        _mm512_storeu_si512(plain + count, bytes);
        if (repeated) {
            size_t kept = (size_t)__builtin_ctzll(repeated);
            uint64_t run = ~(repeated >> kept);
            at += kept + (run ? (size_t)__builtin_ctzll(run) : 64);
            count += kept;
            last = 1;
        } else {
            at += size;
            count += size;
            last = blank >> (size - 1) & 1;
        }
    }
    return count;
}

static inline __m512i spread_8(__m512i x) {
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 30)), _mm512_set1_epi64((long long)SPREAD_1));
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 27)), _mm512_set1_epi64((long long)SPREAD_2));
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 31));
    return _mm512_and_si512(x, _mm512_set1_epi64((long long)(UINT64_C(0xFF) << BIN_SHIFT | LOW)));
}

/* Eight lanes roll over eight equal stretches of the text. Stretches may overlap: a least hash counts a gram once,
   however often it is met. A lane takes eight bytes a time; those that leave its gram are the ones it took three times
   before, because a gram is three times eight bytes. */
void hash_grams_avx512(const uint8_t *plain, size_t count, uint32_t *bins) {
    size_t grams = count - WIDTH + 1, steps = (grams + 7) / 8;
    if (steps < 8) {
        hash_grams_scalar(plain, count, bins);
        return;
    }
    const __m512i base = _mm512_set1_epi64((long long)BASE), oldest = _mm512_set1_epi64((long long)OLDEST);
    const __m512i byte = _mm512_set1_epi64(0xFF), ones = _mm512_set1_epi64((long long)(1 - OLDEST));
    long long starts[8];
    for (size_t lane = 0; lane < 8; lane++)
        starts[lane] = (long long)(lane * steps < grams - steps ? lane * steps : grams - steps);
    __m512i where = _mm512_loadu_si512(starts);
    __m512i held[3], rolling = _mm512_setzero_si512();
    for (int part = 0; part < 3; part++) {
        held[part] = _mm512_i64gather_epi64(where, plain + 8 * part, 1);
        __m512i next = held[part];
        for (int at = 0; at < 8; at++) {
            __m512i digit = _mm512_add_epi64(_mm512_and_si512(next, byte), _mm512_set1_epi64(1));
            rolling = _mm512_add_epi64(_mm512_mullo_epi64(rolling, base), digit);
            next = _mm512_srli_epi64(next, 8);
        }
    }
    for (size_t done = 0; done < steps; done += 8) {
        uint64_t hashes[64] __attribute__((aligned(64)));
        size_t now = steps - done < 8 ? steps - done : 8;
        __m512i taken = _mm512_i64gather_epi64(where, plain + done + WIDTH, 1);
        __m512i next = taken, old = held[0];
        for (int at = 0; at < 8; at++) {
            _mm512_store_si512(hashes + 8 * at, spread_8(rolling));
            __m512i leaving = _mm512_mullo_epi64(_mm512_and_si512(old, byte), oldest);
            __m512i change = _mm512_sub_epi64(_mm512_add_epi64(_mm512_and_si512(next, byte), ones), leaving);
            rolling = _mm512_add_epi64(_mm512_mullo_epi64(rolling, base), change);
            next = _mm512_srli_epi64(next, 8);
            old = _mm512_srli_epi64(old, 8);
        }
        held[0] = held[1], held[1] = held[2], held[2] = taken;
        for (size_t at = 0; at < now; at++)
            for (int lane = 0; lane < 8; lane++) keep_least(bins, hashes[8 * at + lane]);
    }
}
