#include <immintrin.h>

#include "gram.h"

/* As gram.avx512.c, 32 bytes a time. */
size_t normalise_avx2(const uint8_t *text, size_t length, uint8_t *plain) {
    const __m256i space = _mm256_set1_epi8(' '), tab = _mm256_set1_epi8('\t'), line = _mm256_set1_epi8('\n');
    const __m256i back = _mm256_set1_epi8('\r'), before = _mm256_set1_epi8('A' - 1), after = _mm256_set1_epi8('Z' + 1);
    size_t count = 0, at = 0;
    uint32_t last = 1;
    while (length - at >= 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(text + at));
        __m256i blanks = _mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(bytes, space), _mm256_cmpeq_epi8(bytes, tab)),
                                         _mm256_or_si256(_mm256_cmpeq_epi8(bytes, line), _mm256_cmpeq_epi8(bytes, back)));
        uint32_t blank = (uint32_t)_mm256_movemask_epi8(blanks), repeated = blank & (blank << 1 | last);
        /* Signed comparison: bytes of other scripts are negative and so no capitals. */
        __m256i capital = _mm256_and_si256(_mm256_cmpgt_epi8(bytes, before), _mm256_cmpgt_epi8(after, bytes));
        bytes = _mm256_add_epi8(bytes, _mm256_and_si256(capital, space));
        _mm256_storeu_si256((__m256i *)(plain + count), _mm256_blendv_epi8(bytes, space, blanks));
        if (repeated) {
            size_t kept = (size_t)__builtin_ctz(repeated);
            uint32_t run = ~(repeated >> kept);
            at += kept + (run ? (size_t)__builtin_ctz(run) : 32);
            count += kept;
            last = 1;
        } else {
            at += 32;
            count += 32;
            last = blank >> 31;
        }
    }
    /* The rest byte by byte; `last` tells whether it starts behind a space. */
    for (; at < length; at++) {
        uint8_t one = text[at];
        one = (one == '\t') | (one == '\n') | (one == '\r') ? ' ' : one;
        one += (uint8_t)((uint8_t)(one - 'A') < 26) << 5;
        plain[count] = one;
        count += !((one == ' ') & last);
        last = one == ' ';
    }
    return count;
}

/* Lower 64 bits of a product, from three products of 32 bits. */
static inline __m256i multiply(__m256i a, __m256i b, __m256i b_high) {
    __m256i crossed = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), b), _mm256_mul_epu32(a, b_high));
    return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(crossed, 32));
}

static inline __m256i wide(uint64_t x) { return _mm256_set1_epi64x((long long)x); }

static inline __m256i times(__m256i a, uint64_t b) { return multiply(a, wide(b), wide(b >> 32)); }

/* `small` is below 2^32, so two products do. */
static inline __m256i times_small(__m256i small, uint64_t b) {
    __m256i high = _mm256_mul_epu32(small, wide(b >> 32));
    return _mm256_add_epi64(_mm256_mul_epu32(small, wide(b)), _mm256_slli_epi64(high, 32));
}

static inline __m256i spread_4(__m256i x) {
    x = times(_mm256_xor_si256(x, _mm256_srli_epi64(x, 30)), SPREAD_1);
    x = times(_mm256_xor_si256(x, _mm256_srli_epi64(x, 27)), SPREAD_2);
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, 31));
}

/* As gram.avx512.c, in four lanes. */
void hash_grams_avx2(const uint8_t *plain, size_t count, uint32_t *bins) {
    size_t grams = count - WIDTH + 1, steps = (grams + 3) / 4;
    if (steps < 8) {
        hash_grams_scalar(plain, count, bins);
        return;
    }
    const __m256i byte = wide(0xFF), ones = wide(1 - OLDEST);
    long long starts[4];
    for (size_t lane = 0; lane < 4; lane++)
        starts[lane] = (long long)(lane * steps < grams - steps ? lane * steps : grams - steps);
    __m256i where = _mm256_loadu_si256((const __m256i *)starts);
    __m256i held[3], rolling = _mm256_setzero_si256();
    for (int part = 0; part < 3; part++) {
        held[part] = _mm256_i64gather_epi64((const long long *)(plain + 8 * part), where, 1);
        __m256i next = held[part];
        for (int at = 0; at < 8; at++) {
            __m256i digit = _mm256_add_epi64(_mm256_and_si256(next, byte), wide(1));
            rolling = _mm256_add_epi64(times(rolling, BASE), digit);
            next = _mm256_srli_epi64(next, 8);
        }
    }
    for (size_t done = 0; done < steps; done += 8) {
        uint64_t hashes[32] __attribute__((aligned(32)));
        size_t now = steps - done < 8 ? steps - done : 8;
        __m256i taken = _mm256_i64gather_epi64((const long long *)(plain + done + WIDTH), where, 1);
        __m256i next = taken, old = held[0];
        for (int at = 0; at < 8; at++) {
            _mm256_store_si256((__m256i *)(hashes + 4 * at), spread_4(rolling));
            __m256i leaving = times_small(_mm256_and_si256(old, byte), OLDEST);
            __m256i change = _mm256_sub_epi64(_mm256_add_epi64(_mm256_and_si256(next, byte), ones), leaving);
            rolling = _mm256_add_epi64(times(rolling, BASE), change);
            next = _mm256_srli_epi64(next, 8);
            old = _mm256_srli_epi64(old, 8);
        }
        held[0] = held[1], held[1] = held[2], held[2] = taken;
        for (size_t at = 0; at < now; at++)
            for (int lane = 0; lane < 4; lane++) keep_least(bins, hashes[4 * at + lane]);
    }
}
