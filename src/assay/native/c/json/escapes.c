#include "json/escapes.h"

#include <string.h>

#include "json/fields.h"
#include "json/skip.h"
#include "level.h"

static int digit(uint8_t byte) {
    if (byte >= '0' && byte <= '9') return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The number in \uXXXX, or -1. */
static int32_t unit(const uint8_t *at, const uint8_t *end) {
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return -1;
    int a = digit(at[2]), b = digit(at[3]), c = digit(at[4]), d = digit(at[5]);
    return (a | b | c | d) < 0 ? -1 : a << 12 | b << 8 | c << 4 | d;
}

/* The code point that \uXXXX, or two of them that are a pair of surrogates, stand for; `size` is their bytes. */
static int32_t code_point(const uint8_t *at, const uint8_t *end, int *size) {
    int32_t first = unit(at, end);
    *size = 6;
    if (first < 0xD800 || first > 0xDFFF) return first;
    int32_t second = first <= 0xDBFF ? unit(at + 6, end) : -1;
    if (second < 0xDC00 || second > 0xDFFF) return -1;
    *size = 12;
    return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
}

static int short_escape(uint8_t byte) {
    switch (byte) {
        case '"': case '\\': case '/': return byte;
        case 'b': return '\b';
        case 'f': return '\f';
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        default: return -1;
    }
}

int escape_size(const uint8_t *at, const uint8_t *end) {
    int size;
    if (end - at < 2) return 0;
    if (at[1] != 'u') return short_escape(at[1]) < 0 ? 0 : 2;
    return code_point(at, end, &size) < 0 ? 0 : size;
}

static uint8_t *put(uint8_t *to, int32_t point) {
    if (point < 0x80) {
        *to++ = (uint8_t)point;
    } else if (point < 0x800) {
        *to++ = (uint8_t)(0xC0 | point >> 6);
        *to++ = (uint8_t)(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        *to++ = (uint8_t)(0xE0 | point >> 12);
        *to++ = (uint8_t)(0x80 | (point >> 6 & 0x3F));
        *to++ = (uint8_t)(0x80 | (point & 0x3F));
    } else {
        *to++ = (uint8_t)(0xF0 | point >> 18);
        *to++ = (uint8_t)(0x80 | (point >> 12 & 0x3F));
        *to++ = (uint8_t)(0x80 | (point >> 6 & 0x3F));
        *to++ = (uint8_t)(0x80 | (point & 0x3F));
    }
    return to;
}

/* An escape is never shorter than what it stands for, so the text fits where the string did. */
API int64_t assay_json_unescape(const uint8_t *at, const uint8_t *end, uint8_t *to) {
    stop_copier copy = assay_skip().copy;
    const uint8_t *begun = to;
    while (at < end) {
        const uint8_t *next = copy(at, end, to);
        to += next - at;
        at = next;
        while (at < end && *at == '\\') {
            int size = 2;
            if (end - at < 2) return -1;
            int32_t point = at[1] == 'u' ? code_point(at, end, &size) : short_escape(at[1]);
            if (point < 0) return -1;
            to = put(to, point);
            at += size;
        }
        if (at < end && (*at == '"' || *at < 0x20)) return -1;
    }
    return to - begun;
}

API int64_t assay_json_texts(const uint8_t *data, size_t size, const int64_t *values, const uint8_t *kinds,
                             int64_t rows, uint8_t *to, int64_t room, int64_t *offsets) {
    int64_t written = offsets[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t start = values[2 * i], end = values[2 * i + 1];
        if (start < 0 || end < start || (uint64_t)end > size) return -1;
        if (kinds[i] == FIELD_PLAIN || kinds[i] == FIELD_ESCAPED) {
            int64_t length = end - start;
            if (length > room - written) return -1;
            if (kinds[i] == FIELD_PLAIN)
                memcpy(to + written, data + start, (size_t)length);
            else
                length = assay_json_unescape(data + start, data + end, to + written);
            if (length < 0) return -1;
            written += length;
        }
        offsets[i + 1] = written;
    }
    return written;
}

API int64_t assay_json_room(const int64_t *values, int64_t rows) {
    int64_t room = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t start = values[2 * i], end = values[2 * i + 1];
        if (start < 0 || end < start || __builtin_add_overflow(room, end - start, &room)) return -1;
    }
    return room;
}

API int64_t assay_json_longest(const int64_t *values, int64_t rows) {
    int64_t longest = 0;
    for (int64_t i = 0; i < rows; i++)
        if (values[2 * i + 1] - values[2 * i] > longest) longest = values[2 * i + 1] - values[2 * i];
    return longest;
}
