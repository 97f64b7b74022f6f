/* Bytes of text looked at several at a time: 64 or 32 with vector instructions, 8 in a plain register without.
   Which it is depends on the file that includes this one (build.c, build.avx2.c, build.avx512.c); results do not.
   A Mask has a bit set for each byte asked for, lowest address lowest; only the first one that is set is exact. */
#pragma once
#include <stdint.h>
#include <string.h>

typedef const uint8_t *At;

/* Eight bytes, the first one lowest, on every machine. */
static inline uint64_t eight_bytes(At p) {
    uint64_t bytes;
    memcpy(&bytes, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return bytes;
}

#if defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>
#define BLOCK 64
typedef uint64_t Mask;
static inline int first(Mask mask) { return __builtin_ctzll(mask); }

/* Quotes, backslashes, control characters, and everything that is not ASCII (signed, these are below a space). */
static inline Mask special(At p) {
    __m512i bytes = _mm512_loadu_si512(p);
    return _mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(0x20)) | _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')) |
           _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\'));
}

/* Quotes and backslashes; the block is copied to `out`. */
static inline Mask copy_block(uint8_t *out, At p) {
    __m512i bytes = _mm512_loadu_si512(p);
    _mm512_storeu_si512(out, bytes);
    return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')) | _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\'));
}

#elif defined(__AVX2__)
#include <immintrin.h>
#define BLOCK 32
typedef uint32_t Mask;
static inline int first(Mask mask) { return __builtin_ctz(mask); }

static inline Mask special(At p) {
    __m256i bytes = _mm256_loadu_si256((const __m256i *)p);
    __m256i low = _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), bytes), quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"')),
            slash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
    return (Mask)_mm256_movemask_epi8(_mm256_or_si256(low, _mm256_or_si256(quote, slash)));
}

static inline Mask copy_block(uint8_t *out, At p) {
    __m256i bytes = _mm256_loadu_si256((const __m256i *)p);
    _mm256_storeu_si256((__m256i *)out, bytes);
    return (Mask)_mm256_movemask_epi8(_mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"')),
                                                      _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'))));
}

#else
#define BLOCK 8
typedef uint64_t Mask;
static inline int first(Mask mask) { return __builtin_ctzll(mask) >> 3; }

/* A borrow can mark a byte wrongly, but only above one that is marked rightly (A. Mycroft, 1987; see "Bit Twiddling
   Hacks" by S. E. Anderson). */
#define EACH_BYTE 0x0101010101010101ull
static inline uint64_t below(uint64_t bytes, uint8_t n) { return (bytes - EACH_BYTE * n) & ~bytes & EACH_BYTE * 0x80; }
static inline uint64_t equal(uint64_t bytes, uint8_t c) { return below(bytes ^ EACH_BYTE * c, 1); }

static inline Mask special(At p) {
    uint64_t bytes = eight_bytes(p);
    return below(bytes, 0x20) | equal(bytes, '"') | equal(bytes, '\\') | (bytes & EACH_BYTE * 0x80);
}

static inline Mask copy_block(uint8_t *out, At p) {
    memcpy(out, p, 8);
    uint64_t bytes = eight_bytes(p);
    return equal(bytes, '"') | equal(bytes, '\\');
}
#endif

/* Whether the first `size` (1 to 16) of 16 bytes are the same. */
static inline int same_start(At a, At b, unsigned size) {
#if BLOCK > 8
    __m128i same = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)a), _mm_loadu_si128((const __m128i *)b));
    uint32_t want = 0xFFFFu >> (16 - size);
    return ((uint32_t)_mm_movemask_epi8(same) & want) == want;
#else
    uint64_t low = eight_bytes(a) ^ eight_bytes(b), high = eight_bytes(a + 8) ^ eight_bytes(b + 8);
    if (size < 8) return !(low << (64 - 8 * size));
    return !low && (size == 8 || !(high << (128 - 8 * size)));
#endif
}
