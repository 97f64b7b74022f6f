/* The hash of a gram: WIDTH bytes of normalised text, each plus one, are the digits of a number to the base BASE, modulo
   2^64 (the rolling hash of Karp and Rabin, 1987), spread by the finaliser of splitmix64 (Steele, Lea, Flood, 2014).
   The upper eight bits choose a bin, the lower 32 are what the bin keeps the least of. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { WIDTH = 24, BINS = 256, BIN_SHIFT = 56 };

#define BASE UINT64_C(0x9E3779B97F4A7C15)
#define BASE_2 (BASE * BASE)
#define BASE_4 (BASE_2 * BASE_2)
#define BASE_8 (BASE_4 * BASE_4)
#define OLDEST (BASE_8 * BASE_8 * BASE_8) /* BASE to the power of WIDTH: what a byte weighs that leaves the gram */

#define SPREAD_1 UINT64_C(0xBF58476D1CE4E5B9)
#define SPREAD_2 UINT64_C(0x94D049BB133111EB)

#define EMPTY UINT32_C(0xFFFFFFFF)
#define LOW UINT64_C(0xFFFFFFFE) /* an even number, so that no hash is EMPTY */

/* Bytes behind the text that a vector version may read (and ignores). */
enum { SLACK = 64 };

static inline uint64_t spread(uint64_t x) {
    x = (x ^ (x >> 30)) * SPREAD_1;
    x = (x ^ (x >> 27)) * SPREAD_2;
    return x ^ (x >> 31);
}

static inline void keep_least(uint32_t *bins, uint64_t hash) {
    uint32_t *bin = bins + (hash >> BIN_SHIFT), value = (uint32_t)(hash & LOW), held = *bin;
    /* Neither a branch, which is taken at random, nor a trip through vector registers: a comparison and a move. */
    __asm__("" : "+r"(value), "+r"(held));
    *bin = value < held ? value : held;
}

/* Text without upper case and with one space for each run of white space; gives its length, at most that of the text.
   `plain` has room for `length` + SLACK bytes. */
typedef size_t Normalise(const uint8_t *text, size_t length, uint8_t *plain);

/* Least hashes of all grams of at least WIDTH bytes of normalised text; `bins` are EMPTY before. */
typedef void HashGrams(const uint8_t *plain, size_t count, uint32_t *bins);

Normalise normalise_scalar, normalise_avx2, normalise_avx512;
HashGrams hash_grams_scalar, hash_grams_avx2, hash_grams_avx512;
