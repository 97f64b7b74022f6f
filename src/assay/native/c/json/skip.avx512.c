#include <immintrin.h>

#include "json/skip.h"
#include "json/utf8_tables.h"

static __mmask64 first_bytes(ptrdiff_t count) { return count >= 64 ? ~0ull : ((1ull << count) - 1); }

static uint64_t stops_in(__m512i bytes) {
    const __m512i quote = _mm512_set1_epi8('"'), backslash = _mm512_set1_epi8('\\'), space = _mm512_set1_epi8(0x20);
    return _mm512_cmpeq_epi8_mask(bytes, quote) | _mm512_cmpeq_epi8_mask(bytes, backslash) |
           _mm512_cmplt_epu8_mask(bytes, space);
}

const uint8_t *stop_avx512(const uint8_t *at, const uint8_t *end) {
    for (; at < end; at += 64) {
        __mmask64 here = first_bytes(end - at);
        uint64_t stops = stops_in(_mm512_maskz_loadu_epi8(here, at)) & here;
        if (stops) return at + _tzcnt_u64(stops);
    }
    return end;
}

const uint8_t *copy_avx512(const uint8_t *at, const uint8_t *end, uint8_t *to) {
    for (; at < end; at += 64, to += 64) {
        __mmask64 here = first_bytes(end - at);
        __m512i bytes = _mm512_maskz_loadu_epi8(here, at);
        _mm512_mask_storeu_epi8(to, here, bytes);
        uint64_t stops = stops_in(bytes) & here;
        if (stops) return at + _tzcnt_u64(stops);
    }
    return end;
}

/* `bytes` moved up by `count`, with the last of `before` in front. */
#define SHIFTED(bytes, before, count) _mm512_alignr_epi8(bytes, _mm512_alignr_epi32(bytes, before, 12), 16 - (count))

static __m512i upper_half(__m512i bytes) {
    return _mm512_and_si512(_mm512_srli_epi16(bytes, 4), _mm512_set1_epi8(0x0F));
}

static __m512i errors(__m512i bytes, __m512i before) {
    const __m512i first_upper = _mm512_broadcast_i32x4(_mm_setr_epi8(FIRST_UPPER));
    const __m512i first_lower = _mm512_broadcast_i32x4(_mm_setr_epi8(FIRST_LOWER));
    const __m512i second_upper = _mm512_broadcast_i32x4(_mm_setr_epi8(SECOND_UPPER));
    __m512i one = SHIFTED(bytes, before, 1), two = SHIFTED(bytes, before, 2), three = SHIFTED(bytes, before, 3);
    __m512i pairs = _mm512_and_si512(_mm512_shuffle_epi8(first_upper, upper_half(one)),
                                     _mm512_shuffle_epi8(first_lower, _mm512_and_si512(one, _mm512_set1_epi8(0x0F))));
    pairs = _mm512_and_si512(pairs, _mm512_shuffle_epi8(second_upper, upper_half(bytes)));
    __m512i third = _mm512_subs_epu8(two, _mm512_set1_epi8(0xE0 - 0x80));
    __m512i fourth = _mm512_subs_epu8(three, _mm512_set1_epi8(0xF0 - 0x80));
    __m512i must = _mm512_and_si512(_mm512_or_si512(third, fourth), _mm512_set1_epi8((char)0x80));
    return _mm512_xor_si512(must, pairs);
}

/* Zeros after the last byte make a character that is cut short an error. */
int utf8_avx512(const uint8_t *at, const uint8_t *end) {
    __m512i before = _mm512_setzero_si512(), wrong = before;
    int plain = 1;
    for (;; at += 64) {
        ptrdiff_t left = end - at;
        __m512i bytes = _mm512_maskz_loadu_epi8(first_bytes(left), at);
        int ascii = !_mm512_movepi8_mask(bytes);
        if (!ascii || !plain) wrong = _mm512_or_si512(wrong, errors(bytes, before));
        if (left < 64) return !_mm512_test_epi8_mask(wrong, wrong);
        before = bytes;
        plain = ascii;
    }
}
