#include "json/skip.h"

#include <string.h>

#include "level.h"

struct skip assay_skip(void) {
#if defined(__x86_64__)
    int level = assay_level();
    if (level == LEVEL_AVX512) return (struct skip){stop_avx512, copy_avx512, utf8_avx512};
    if (level == LEVEL_AVX2) return (struct skip){stop_avx2, copy_avx2, utf8_avx2};
#endif
    return (struct skip){stop_scalar, copy_scalar, utf8_scalar};
}

const uint8_t *stop_scalar(const uint8_t *at, const uint8_t *end) {
    while (at < end && *at >= 0x20 && *at != '"' && *at != '\\') at++;
    return at;
}

const uint8_t *copy_scalar(const uint8_t *at, const uint8_t *end, uint8_t *to) {
    while (at < end && *at >= 0x20 && *at != '"' && *at != '\\') *to++ = *at++;
    return at;
}

/* Eight bytes that are all ASCII are passed over at once. */
static const uint8_t *past_ascii(const uint8_t *at, const uint8_t *end) {
    uint64_t word;
    for (; end - at >= 8; at += 8) {
        memcpy(&word, at, 8);
        if (word & 0x8080808080808080u) break;
    }
    while (at < end && *at < 0x80) at++;
    return at;
}

static int continues(uint8_t byte) { return (byte & 0xC0) == 0x80; }

/* The ranges are those of the table of well-formed sequences in the Unicode standard (table 3-7). */
int utf8_scalar(const uint8_t *at, const uint8_t *end) {
    while ((at = past_ascii(at, end)) < end) {
        ptrdiff_t left = end - at;
        uint8_t lead = at[0];
        if (lead >= 0xC2 && lead <= 0xDF) {
            if (left < 2 || !continues(at[1])) return 0;
            at += 2;
        } else if (lead >= 0xE0 && lead <= 0xEF) {
            if (left < 3 || !continues(at[1]) || !continues(at[2])) return 0;
            if ((lead == 0xE0 && at[1] < 0xA0) || (lead == 0xED && at[1] > 0x9F)) return 0;
            at += 3;
        } else if (lead >= 0xF0 && lead <= 0xF4) {
            if (left < 4 || !continues(at[1]) || !continues(at[2]) || !continues(at[3])) return 0;
            if ((lead == 0xF0 && at[1] < 0x90) || (lead == 0xF4 && at[1] > 0x8F)) return 0;
            at += 4;
        } else {
            return 0;
        }
    }
    return 1;
}
