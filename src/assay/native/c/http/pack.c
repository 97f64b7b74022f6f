#include "http/pack.h"

#include <string.h>

enum { LEAST_MATCH = 4, LAST_LITERALS = 5, LAST_MATCH = 12, FARTHEST = 65535, TABLE_BITS = 12 };

size_t pack_room(size_t count) { return count + count / 255 + 16; }

static uint32_t four(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint8_t *put_length(uint8_t *to, size_t length) {
    for (; length >= 255; length -= 255) *to++ = 255;
    *to++ = (uint8_t)length;
    return to;
}

/* Literals, then a match unless its length is 0. */
static uint8_t *put_sequence(uint8_t *to, const uint8_t *literals, size_t count, size_t distance, size_t match) {
    uint8_t *token = to++;
    size_t more = match ? match - LEAST_MATCH : 0;
    *token = (uint8_t)((count < 15 ? count : 15) << 4 | (more < 15 ? more : 15));
    if (count >= 15) to = put_length(to, count - 15);
    memcpy(to, literals, count);
    to += count;
    if (!match) return to;
    *to++ = (uint8_t)distance;
    *to++ = (uint8_t)(distance >> 8);
    return more >= 15 ? put_length(to, more - 15) : to;
}

/* How many bytes are the same at both places, the second one's end being `end`. */
static size_t same_bytes(const uint8_t *a, const uint8_t *b, const uint8_t *end) {
    const uint8_t *began = b;
    for (; end - b >= 8 && !memcmp(a, b, 8); a += 8, b += 8) continue;
    for (; b < end && *a == *b; a++, b++) continue;
    return (size_t)(b - began);
}

size_t pack_bytes(const uint8_t *bytes, size_t count, uint8_t *to) {
    uint32_t seen[1 << TABLE_BITS] = {0}; /* place after which four bytes with this hash stood; 0: nowhere yet */
    uint8_t *out = to;
    size_t anchor = 0, at = 0, limit = count > LAST_MATCH ? count - LAST_MATCH : 0;
    while (at < limit) {
        uint32_t hash = four(bytes + at) * 2654435761u >> (32 - TABLE_BITS);
        size_t place = seen[hash];
        seen[hash] = (uint32_t)at + 1;
        if (!place || at + 1 - place > FARTHEST || four(bytes + place - 1) != four(bytes + at)) {
            at += 1 + (at - anchor) / 64; /* what does not repeat is gone over faster and faster */
            continue;
        }
        size_t length = same_bytes(bytes + place - 1, bytes + at, bytes + count - LAST_LITERALS);
        out = put_sequence(out, bytes + anchor, at - anchor, at + 1 - place, length);
        at += length;
        anchor = at;
    }
    out = put_sequence(out, bytes + anchor, count - anchor, 0, 0);
    return (size_t)(out - to);
}

/* A length that goes on in further bytes. 0: they end too early, or it is longer than anything here. */
static int take_length(const uint8_t **at, const uint8_t *end, size_t most, size_t *length) {
    uint8_t byte;
    do {
        if (*at == end || *length > most) return 0;
        byte = *(*at)++;
        *length += byte;
    } while (byte == 255);
    return 1;
}

int unpack_bytes(const uint8_t *bytes, size_t count, uint8_t *to, size_t room) {
    const uint8_t *at = bytes, *end = bytes + count;
    size_t made = 0;
    while (at < end) {
        uint8_t token = *at++;
        size_t literals = token >> 4, length = token & 15;
        if (literals == 15 && !take_length(&at, end, room, &literals)) return 0;
        if (literals > (size_t)(end - at) || literals > room - made) return 0;
        memcpy(to + made, at, literals);
        at += literals, made += literals;
        if (at == end) return made == room;
        if (end - at < 2) return 0;
        size_t distance = (size_t)at[0] | (size_t)at[1] << 8;
        at += 2;
        if (length == 15 && !take_length(&at, end, room, &length)) return 0;
        length += LEAST_MATCH;
        if (!distance || distance > made || length > room - made) return 0;
        if (distance >= length) {
            memcpy(to + made, to + made - distance, length);
            made += length;
        } else {
            /* A match may reach into itself: then it repeats. */
            for (; length; length--, made++) to[made] = to[made - distance];
        }
    }
    return 0;
}
