/* JSON in normal form (what Python's json.dumps writes with ensure_ascii off), scanned in one pass.
   A scanner returns where the value ends, or 0 for "not sure": the line then goes to the strict parser. So it may
   refuse anything, but what it accepts must be valid, and mean what its bytes say: no repeated keys, no escapes that
   could be written otherwise, no numbers that would be printed differently. A loose scan also takes compact lines and
   lines in ASCII (the two other forms that json.dumps writes); what is kept of them is written anew (normal_form.h).
   Every line is followed by a byte that is neither digit nor quote (its line end, or the 0 after a bytes object),
   so single bytes need no bounds check. */
#pragma once
#include <math.h>
#include <stdlib.h>
#include "block.h"
#include "decimal.h"
#include "normal_form.h"

typedef struct {
    At safe;         /* the last place where BLOCK bytes can be read, and 16 */
    uint8_t loose; /* no space after commas and colons, and escapes for what needs none, are right as well */
    uint32_t odd;  /* places of that kind so far */
} Scan;
typedef struct { double value; uint8_t whole, normal; } Number;

static inline At after_utf8(At p) {
#define TAIL(c) (((c) & 0xC0) == 0x80)
    uint8_t a = p[0];
    if (a >= 0xC2 && a <= 0xDF) return TAIL(p[1]) ? p + 2 : 0;
    if (a >= 0xE0 && a <= 0xEF) {
        if (!TAIL(p[1]) || !TAIL(p[2])) return 0;
        if ((a == 0xE0 && p[1] < 0xA0) || (a == 0xED && p[1] > 0x9F)) return 0;
        return p + 3;
    }
    if (a >= 0xF0 && a <= 0xF4) {
        if (!TAIL(p[1]) || !TAIL(p[2]) || !TAIL(p[3])) return 0;
        if ((a == 0xF0 && p[1] < 0x90) || (a == 0xF4 && p[1] > 0x8F)) return 0;
        return p + 4;
    }
    return 0;
#undef TAIL
}

static At after_loose_escape(Scan *scan, At p) {
    uint8_t written[8], *out = written;
    scan->odd++;
    return scan->loose ? escape_end(p, &out) : 0;
}

static inline At after_escape(Scan *scan, At p) {
    uint8_t c = p[1];
    if (c == '"' || c == '\\' || c == 'n' || c == 't' || c == 'r' || c == 'b' || c == 'f') return p + 2;
    if (c != 'u' || p[2] != '0' || p[3] != '0' || (p[4] != '0' && p[4] != '1')) return after_loose_escape(scan, p);
    uint8_t d = p[5];
    if (!((d >= '0' && d <= '9') || (d >= 'a' && d <= 'f'))) return after_loose_escape(scan, p);
    if (p[4] == '0' && (d == '8' || d == '9' || d == 'a' || d == 'c' || d == 'd'))
        return after_loose_escape(scan, p); /* has a short form */
    return p + 6;
}

/* From after the opening quote to the closing one. */
static inline At string_end(Scan *scan, At p) {
    for (;;) {
        while (p <= scan->safe) {
            Mask found = special(p);
            if (found) {
                p += first(found);
                break;
            }
            p += BLOCK;
        }
        uint8_t c = *p;
        if (c == '"') return p;
        if (c == '\\') p = after_escape(scan, p);
        else if (c >= 0x80) p = after_utf8(p);
        else if (c < 0x20) return 0;
        else p++;
        if (!p) return 0;
    }
}

static const double TENS[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* More than 15 digits, or an exponent: the C library rounds correctly, and the printer tells whether it is normal. */
static At long_number(At start, Number *number) {
    At p = start + (*start == '-');
    int fraction = 0;
    if (*p == '0') p++;
    else while (*p >= '0' && *p <= '9') p++;
    if (*p == '.') {
        At first = ++p;
        while (*p >= '0' && *p <= '9') p++;
        if (p == first) return 0;
        fraction = 1;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-') p++;
        At first = p;
        while (*p >= '0' && *p <= '9') p++;
        if (p == first) return 0;
        fraction = 1;
    }
    char token[40], printed[32];
    size_t size = p - start;
    if (!fraction || size >= sizeof token) return 0;
    memcpy(token, start, size);
    token[size] = 0;
    char *end;
    number->value = strtod(token, &end);
    if (end != token + size || !isfinite(number->value)) return 0;
    number->whole = 0;
    number->normal = (size_t)write_float(printed, number->value) == size && !memcmp(printed, token, size);
    return p;
}

/* Digits at the beginning of 8 bytes: how many (8: perhaps more), and their value, without a branch per digit
   (D. Lemire, "Number parsing at a gigabyte per second", 2021). */
static inline int eight_digits(At p, uint64_t *value) {
    uint64_t bytes = eight_bytes(p) ^ 0x3030303030303030ull;
    uint64_t other = (bytes | (bytes + 0x7676767676767676ull)) & 0x8080808080808080ull;
    int count = other ? __builtin_ctzll(other) >> 3 : 8;
    if (!count) return 0;
    bytes <<= 64 - 8 * count;
    bytes = bytes * 10 + (bytes >> 8);
    bytes = ((bytes & 0x000000FF000000FFull) * 0x000F424000000064ull +
             ((bytes >> 16) & 0x000000FF000000FFull) * 0x0000271000000001ull) >> 32;
    *value = bytes & 0xFFFFFFFF;
    return count;
}

static const uint64_t WHOLE_TENS[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

/* The usual case, at most 7 digits before the point and 7 after. 0: not this case. */
static inline At short_number(Scan *scan, At start, Number *number) {
    if (start > scan->safe) return 0;
    uint64_t whole, part;
    int digits = eight_digits(start, &whole);
    if (digits == 0 || digits == 8 || (*start == '0' && digits > 1)) return 0;
    At p = start + digits;
    if (*p != '.') {
        if ((*p | 32) == 'e') return 0;
        *number = (Number){(double)whole, 1, 1};
        return p;
    }
    if (++p > scan->safe) return 0;
    int places = eight_digits(p, &part);
    if (places == 0 || places == 8) return 0;
    p += places;
    if ((*p | 32) == 'e') return 0;
    uint64_t all = whole * WHOLE_TENS[places] + part;
    double value = (double)all / TENS[places];
    *number = (Number){value, 0, (p[-1] != '0' || places == 1) && (!all || value >= 1e-4)};
    return p;
}

/* Up to 15 digits fit a double exactly, and so does the power of ten: one division rounds once (Clinger 1990). */
static inline At number_end(Scan *scan, At start, Number *number) {
    At p = short_number(scan, start, number);
    if (p) return p;
    p = start;
    int minus = *p == '-';
    p += minus;
    uint64_t digits = 0;
    At first = p;
    if (*p == '0') p++;
    else {
        while ((uint8_t)(*p - '0') < 10) digits = digits * 10 + (*p++ - '0');
        if (p == first) return 0;
    }
    if (p - first > 15) return long_number(start, number);
    if (*p != '.') {
        if ((*p | 32) == 'e') return long_number(start, number);
        number->value = minus ? -(double)digits : (double)digits;
        number->whole = 1;
        number->normal = !(minus && !digits);
        return p;
    }
    At point = ++p;
    while ((uint8_t)(*p - '0') < 10) digits = digits * 10 + (*p++ - '0');
    size_t places = p - point;
    if (!places) return 0;
    if (places > 15 || p - first > 17 || digits >= 1000000000000000ull || (*p | 32) == 'e') return long_number(start, number);
    double value = (double)digits / TENS[places];
    number->value = minus ? -value : value;
    number->whole = 0;
    number->normal = (p[-1] != '0' || places == 1) && (!digits || value >= 1e-4);
    return p;
}

#define MOST_KEYS 32
static At value_end(Scan *scan, At p, int normal, int depth);

/* The comma or colon at `p` and its space. */
static inline At separator_end(Scan *scan, At p, uint8_t separator) {
    if (*p != separator) return 0;
    if (p[1] == ' ') return p + 2;
    scan->odd++;
    return scan->loose ? p + 1 : 0;
}

static At object_end(Scan *scan, At p, int normal, int depth) {
    At keys[MOST_KEYS];
    size_t sizes[MOST_KEYS];
    int count = 0;
    if (*++p == '}') return p + 1;
    for (;;) {
        if (*p != '"' || count == MOST_KEYS) return 0;
        At key = p + 1;
        uint32_t odd = scan->odd;
        p = string_end(scan, key);
        if (!p || scan->odd != odd) return 0;
        size_t size = p - key;
        for (int i = 0; i < count; i++)
            if (sizes[i] == size && !memcmp(keys[i], key, size)) return 0;
        keys[count] = key;
        sizes[count++] = size;
        if (!(p = separator_end(scan, p + 1, ':')) || !(p = value_end(scan, p, normal, depth))) return 0;
        if (*p == '}') return p + 1;
        if (!(p = separator_end(scan, p, ','))) return 0;
    }
}

/* `normal` off: the value is left out of the output, so its numbers may be written in any way. */
static At value_end(Scan *scan, At p, int normal, int depth) {
    Number number;
    switch (*p) {
    case '"':
        p = string_end(scan, p + 1);
        return p ? p + 1 : 0;
    case '{':
        return depth > 60 ? 0 : object_end(scan, p, normal, depth + 1);
    case '[':
        if (depth > 60) return 0;
        if (p[1] == ']') return p + 2;
        for (p++;;) {
            if (!(p = value_end(scan, p, normal, depth + 1))) return 0;
            if (*p == ']') return p + 1;
            if (!(p = separator_end(scan, p, ','))) return 0;
        }
    case 't': return p[1] == 'r' && p[2] == 'u' && p[3] == 'e' ? p + 4 : 0;
    case 'f': return p[1] == 'a' && p[2] == 'l' && p[3] == 's' && p[4] == 'e' ? p + 5 : 0;
    case 'n': return p[1] == 'u' && p[2] == 'l' && p[3] == 'l' ? p + 4 : 0;
    default:
        p = number_end(scan, p, &number);
        return p && (number.normal || !normal) ? p : 0;
    }
}
