/* NH, twice with shifted keys: see digest.h. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef unsigned __int128 wide;

struct nh_sums {
    wide one, other;
};

/* NH of 16 bytes, added to what came before in the block; `word` is the first of the block's words in them. */
static inline void add_pair(const uint64_t *words, int word, const uint8_t *at, struct nh_sums *to) {
    uint64_t a, b;
    memcpy(&a, at, 8);
    memcpy(&b, at + 8, 8);
    to->one += (wide)(a + words[word]) * (b + words[word + 1]);
    to->other += (wide)(a + words[word + 2]) * (b + words[word + 3]);
}

/* At most a block. What is missing to a multiple of 16 bytes is zeros. */
static inline struct nh_sums nh_of(const uint64_t *words, const uint8_t *at, size_t size) {
    struct nh_sums sums = {0, 0};
    int word = 0;
    for (; size >= 16; size -= 16, at += 16, word += 2) add_pair(words, word, at, &sums);
    if (size) {
        uint8_t last[16] = {0};
        memcpy(last, at, size);
        add_pair(words, word, last, &sums);
    }
    return sums;
}

typedef struct nh_sums (*nh_function)(const uint64_t *words, const uint8_t *at, size_t size);

struct nh_sums nh_scalar(const uint64_t *words, const uint8_t *at, size_t size);
#if defined(__x86_64__)
/* The same code for processors whose multiplication leaves the flags alone (BMI2). */
struct nh_sums nh_avx2(const uint64_t *words, const uint8_t *at, size_t size);
#endif
