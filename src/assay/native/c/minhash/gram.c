#include "gram.h"

/* Without branches on what the bytes are: text is what a predictor cannot predict. */
size_t normalise_scalar(const uint8_t *text, size_t length, uint8_t *plain) {
    size_t count = 0;
    uint8_t last = ' ';
    for (size_t at = 0; at < length; at++) {
        uint8_t byte = text[at];
        byte = (byte == '\t') | (byte == '\n') | (byte == '\r') ? ' ' : byte;
        byte += (uint8_t)((uint8_t)(byte - 'A') < 26) << 5;
        plain[count] = byte;
        count += !((byte == ' ') & (last == ' '));
        last = byte;
    }
    return count;
}

void hash_grams_scalar(const uint8_t *plain, size_t count, uint32_t *bins) {
    uint64_t rolling = 0;
    for (size_t at = 0; at < WIDTH; at++) rolling = rolling * BASE + plain[at] + 1;
    keep_least(bins, spread(rolling));
    for (size_t at = WIDTH; at < count; at++) {
        rolling = rolling * BASE + (plain[at] + UINT64_C(1) - OLDEST * (plain[at - WIDTH] + UINT64_C(1)));
        keep_least(bins, spread(rolling));
    }
}
