#include <immintrin.h>
#include <string.h>

#include "json/skip.h"
#include "json/utf8_tables.h"

static uint32_t stops_in(__m256i bytes) {
    const __m256i quote = _mm256_set1_epi8('"'), backslash = _mm256_set1_epi8('\\'), control = _mm256_set1_epi8(0x1F);
    __m256i stops = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, quote), _mm256_cmpeq_epi8(bytes, backslash));
    stops = _mm256_or_si256(stops, _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, control), bytes));
    return (uint32_t)_mm256_movemask_epi8(stops);
}

const uint8_t *stop_avx2(const uint8_t *at, const uint8_t *end) {
    for (; end - at >= 32; at += 32) {
        uint32_t stops = stops_in(_mm256_loadu_si256((const __m256i *)at));
        if (stops) return at + _tzcnt_u32(stops);
    }
    return stop_scalar(at, end);
}

const uint8_t *copy_avx2(const uint8_t *at, const uint8_t *end, uint8_t *to) {
    for (; end - at >= 32; at += 32, to += 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)at);
        _mm256_storeu_si256((__m256i *)to, bytes);
        uint32_t stops = stops_in(bytes);
        if (stops) return at + _tzcnt_u32(stops);
    }
    return copy_scalar(at, end, to);
}

/* `bytes` moved up by `count`, with the last of `before` in front. */
#define SHIFTED(bytes, before, count) \
    _mm256_alignr_epi8(bytes, _mm256_permute2x128_si256(before, bytes, 0x21), 16 - (count))

static __m256i upper_half(__m256i bytes) {
    return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0F));
}

static __m256i errors(__m256i bytes, __m256i before) {
    const __m256i first_upper = _mm256_broadcastsi128_si256(_mm_setr_epi8(FIRST_UPPER));
    const __m256i first_lower = _mm256_broadcastsi128_si256(_mm_setr_epi8(FIRST_LOWER));
    const __m256i second_upper = _mm256_broadcastsi128_si256(_mm_setr_epi8(SECOND_UPPER));
    __m256i one = SHIFTED(bytes, before, 1), two = SHIFTED(bytes, before, 2), three = SHIFTED(bytes, before, 3);
    __m256i pairs = _mm256_and_si256(_mm256_shuffle_epi8(first_upper, upper_half(one)),
                                     _mm256_shuffle_epi8(first_lower, _mm256_and_si256(one, _mm256_set1_epi8(0x0F))));
    pairs = _mm256_and_si256(pairs, _mm256_shuffle_epi8(second_upper, upper_half(bytes)));
    __m256i third = _mm256_subs_epu8(two, _mm256_set1_epi8(0xE0 - 0x80));
    __m256i fourth = _mm256_subs_epu8(three, _mm256_set1_epi8(0xF0 - 0x80));
    __m256i must = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8((char)0x80));
    return _mm256_xor_si256(must, pairs);
}

/* Zeros after the last byte make a character that is cut short an error. */
int utf8_avx2(const uint8_t *at, const uint8_t *end) {
    __m256i before = _mm256_setzero_si256(), wrong = before, bytes;
    int plain = 1;
    for (;;) {
        ptrdiff_t left = end - at;
        if (left >= 32) {
            bytes = _mm256_loadu_si256((const __m256i *)at);
        } else {
            uint8_t last[32] = {0};
            memcpy(last, at, (size_t)left);
            bytes = _mm256_loadu_si256((const __m256i *)last);
        }
        int ascii = !_mm256_movemask_epi8(bytes);
        if (!ascii || !plain) wrong = _mm256_or_si256(wrong, errors(bytes, before));
        if (left < 32) return _mm256_testz_si256(wrong, wrong);
        before = bytes;
        plain = ascii;
        at += 32;
    }
}
