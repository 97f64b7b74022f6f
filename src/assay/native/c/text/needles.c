/* Where any of many short texts occurs in a block of bytes.

   Each text is entered under two pairs of neighbouring bytes, at `at` and at `at + 1` from its beginning. One of the two
   begins at an even place of the block wherever the text stands, so every other place is enough to look at: after
   S. Wu and U. Manber, "A fast algorithm for multi-pattern searching" (1994), with blocks of two and a shift of two. */
#include <stdint.h>
#include <string.h>

#include "level.h"

enum { PAIRS = 1 << 16, NONE = -1 };

struct needles {
    int64_t count;
    const uint8_t *texts; /* text i is texts[offsets[i]..offsets[i+1]) */
    const int64_t *offsets;
    const uint8_t *at_edge; /* whether text i must not continue a word */
    const uint8_t *bits;    /* PAIRS / 8: whether a pair is one of a text's */
    const int32_t *first;   /* PAIRS: the first entry of a pair; 2 * i: text i by its pair `at`, 2 * i + 1: by the next */
    const int32_t *next;    /* the next entry of the same pair */
    const int32_t *at;
};

static int is_alphanumeric(uint8_t byte) {
    return (uint8_t)(byte - '0') < 10 || (uint8_t)((byte | 32) - 'a') < 26;
}

/* A word begins at `place`: nothing of a word is before it, or only the letter of an escape such as \n. */
static int is_edge(const uint8_t *data, int64_t place) {
    if (place == 0 || !is_alphanumeric(data[place - 1])) return 1;
    return place >= 2 && data[place - 2] == '\\';
}

/* The next place from `place` on, two by two, where a text's pair stands; `size` or beyond without one. */
static int64_t next_pair(const uint8_t *restrict data, int64_t place, int64_t size, const uint8_t *restrict bits) {
    for (; place + 1 < size; place += 2) {
        unsigned pair = data[place] | (unsigned)data[place + 1] << 8;
        if (bits[pair >> 3] >> (pair & 7) & 1) return place;
    }
    return size;
}

/* Fills `found` with pairs of a place and the number of the text that stands there, at most `room` (more than there are
   texts), and sets `*from` to where to go on: to `size` or beyond when the block is done. Returns the number of pairs. */
API int64_t assay_needles_find(const uint8_t *data, int64_t size, const struct needles *needles, int64_t *from,
                               int64_t *found, int64_t room) {
    int64_t count = 0, place = next_pair(data, *from, size, needles->bits);
    for (; place < size && count + needles->count <= room; place = next_pair(data, place + 2, size, needles->bits)) {
        unsigned pair = data[place] | (unsigned)data[place + 1] << 8;
        for (int32_t entry = needles->first[pair]; entry != NONE; entry = needles->next[entry]) {
            int32_t text = entry >> 1;
            int64_t begin = place - needles->at[text] - (entry & 1);
            int64_t length = needles->offsets[text + 1] - needles->offsets[text];
            if (begin < 0 || begin + length > size) continue;
            if (memcmp(data + begin, needles->texts + needles->offsets[text], (size_t)length) != 0) continue;
            if (needles->at_edge[text] && !is_edge(data, begin)) continue;
            found[2 * count] = begin;
            found[2 * count + 1] = text;
            count++;
        }
    }
    *from = place;
    return count;
}
