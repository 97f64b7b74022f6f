/* A line rewritten as json.dumps(…, ensure_ascii=False) would write it: one space after each comma and colon and no other
   white space between tokens, characters instead of escapes wherever that is possible. Numbers stay as they are.
   It neither checks everything nor makes wrong lines right: what stands between tokens is only moved together next to
   a bracket, comma or colon, so that no two tokens become one, and the scanner reads the result as it reads any line. */
#pragma once
#include "block.h"
#include "memory.h"

#define PADDING 64 /* at least BLOCK: blocks may be read and written this far beyond the end */

enum { STRAY, TOKEN, QUOTE, SPACE, SEPARATOR, OPENING, CLOSING };

static const uint8_t KINDS[256] = {
    ['"'] = QUOTE, [' '] = SPACE, ['\t'] = SPACE, ['\r'] = SPACE, [','] = SEPARATOR, [':'] = SEPARATOR,
    ['{'] = OPENING, ['['] = OPENING, ['}'] = CLOSING, [']'] = CLOSING,
    ['+'] = TOKEN, ['-'] = TOKEN, ['.'] = TOKEN, ['0' ... '9'] = TOKEN, ['a' ... 'z'] = TOKEN, ['E'] = TOKEN};

/* The value of four hexadecimal digits, or -1. */
static inline int32_t four_digits(At p) {
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t c = p[i], letter = c | 32;
        int digit = c >= '0' && c <= '9' ? c - '0' : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
        if (digit < 0) return -1; /* what is behind the line is none, so nothing beyond that is looked at */
        value = value << 4 | digit;
    }
    return value;
}

static inline uint8_t *put_utf8(uint8_t *out, uint32_t c) {
    if (c < 0x80) {
        *out++ = (uint8_t)c;
        return out;
    }
    if (c < 0x800) {
        *out++ = (uint8_t)(0xC0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *out++ = (uint8_t)(0xE0 | c >> 12);
        } else {
            *out++ = (uint8_t)(0xF0 | c >> 18);
            *out++ = (uint8_t)(0x80 | (c >> 12 & 0x3F));
        }
        *out++ = (uint8_t)(0x80 | (c >> 6 & 0x3F));
    }
    *out++ = (uint8_t)(0x80 | (c & 0x3F));
    return out;
}

/* A character of a string as json.dumps writes it: escaped only if it must be, and then in its short form. */
static inline uint8_t *put_character(uint8_t *out, uint32_t c) {
    static const char SHORT[0x20] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    if (c >= 0x20 && c != '"' && c != '\\') return put_utf8(out, c);
    *out++ = '\\';
    if (c >= 0x20) {
        *out++ = (uint8_t)c;
    } else if (SHORT[c]) {
        *out++ = (uint8_t)SHORT[c];
    } else {
        memcpy(out, "u00", 3);
        out[3] = (uint8_t)('0' + (c >> 4));
        out[4] = (uint8_t)"0123456789abcdef"[c & 15];
        out += 5;
    }
    return out;
}

/* The escape at `p`, which begins with a backslash. Half a surrogate pair is the strict parser's to complain about. */
static At escape_end(At p, uint8_t **out) {
    if (p[1] != 'u') {
        if (!p[1] || !strchr("\"\\/bfnrt", p[1])) return 0;
        if (p[1] != '/') *(*out)++ = '\\';
        *(*out)++ = p[1];
        return p + 2;
    }
    int32_t c = four_digits(p + 2);
    p += 6;
    if (c < 0 || (c >= 0xDC00 && c <= 0xDFFF)) return 0;
    if (c >= 0xD800 && c <= 0xDBFF) {
        if (p[0] != '\\' || p[1] != 'u') return 0;
        int32_t low = four_digits(p + 2);
        if (low < 0xDC00 || low > 0xDFFF) return 0;
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        p += 6;
    }
    *out = put_character(*out, (uint32_t)c);
    return p;
}

/* From after the opening quote to after the closing one. */
static inline At copy_string(At p, At end, uint8_t **to) {
    uint8_t *out = *to;
    for (;;) {
        while (end - p >= BLOCK) {
            Mask found = copy_block(out, p);
            int skip = found ? first(found) : BLOCK;
            p += skip, out += skip;
            if (found) break;
        }
        while (p < end && *p != '"' && *p != '\\') *out++ = *p++;
        if (p == end) return 0;
        if (*p == '"') break;
        if (!(p = escape_end(p, &out)) || p > end) return 0;
    }
    *out++ = '"';
    *to = out;
    return p + 1;
}

/* Adds the value, field or line in [p, end) to `text`. 0: not sure. */
static int add_normal(Text *text, At p, At end) {
    RESERVE(*text, 2 * (size_t)(end - p) + PADDING); /* a comma becomes two bytes, nothing grows more */
    uint8_t *out = text->at + text->count;
    while (p < end) {
        uint8_t c = *p++;
        switch (KINDS[c]) {
        case TOKEN:
            *out++ = c;
            continue;
        case QUOTE:
            *out++ = c;
            if (!(p = copy_string(p, end, &out))) return 0;
            continue;
        case SPACE: /* after a string, a number or a word */
            while (p < end && KINDS[*p] == SPACE) p++;
            if (p < end && KINDS[*p] < SEPARATOR) return 0;
            continue;
        case STRAY:
            return 0;
        case SEPARATOR:
            *out++ = c;
            *out++ = ' ';
            break;
        default:
            *out++ = c;
        }
        while (p < end && KINDS[*p] == SPACE) p++;
    }
    text->count = out - text->at;
    return 1;
}

/* Adds what stands between the quotes of the string in [p, end), end being its closing quote. */
static void add_characters(Text *text, At p, At end) {
    RESERVE(*text, (size_t)(end - p) + 1 + PADDING);
    uint8_t *out = text->at + text->count;
    if (copy_string(p, end + 1, &out)) text->count = out - 1 - text->at;
}
