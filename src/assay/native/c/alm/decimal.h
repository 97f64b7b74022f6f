/* The shortest decimal that reads back as the same double, written as Python's repr writes it.
   Schubfach (R. Giulietti, "The Schubfach way to render doubles", 2020). POWERS holds the 617 powers of ten it
   needs, as 128-bit significands rounded up. */
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "powers.h"

typedef unsigned __int128 u128;

static inline uint64_t round_to_odd(const uint64_t power[2], uint64_t c) {
    uint64_t low = (uint64_t)(((u128)power[1] * c) >> 64);
    u128 high = (u128)power[0] * c + low;
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

static void shortest(uint64_t bits, uint64_t *digits, int *exponent) {
    uint64_t fraction = bits & 0xFFFFFFFFFFFFFull;
    int biased = (int)(bits >> 52 & 0x7FF);
    uint64_t c = biased ? fraction | 1ull << 52 : fraction;
    int q = (biased ? biased : 1) - 1075;
    if (q <= 0 && q > -53 && !(c & ((1ull << -q) - 1))) {
        *digits = c >> -q;
        *exponent = 0;
        return;
    }
    int closer = fraction == 0 && biased > 1;
    int odd = c & 1;
    int k = (q * 1262611 - (closer ? 524031 : 0)) >> 22;
    int h = q + ((-k * 1741647) >> 19) + 1;
    const uint64_t *power = POWERS[-k + POWERS_ZERO];
    uint64_t lower = round_to_odd(power, (4 * c - 2 + closer) << h) + odd;
    uint64_t middle = round_to_odd(power, (4 * c) << h);
    uint64_t upper = round_to_odd(power, (4 * c + 2) << h) - odd;
    uint64_t s = middle / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        int below = lower <= 40 * tens, above = 40 * tens + 40 <= upper;
        if (below != above) {
            *digits = tens + above;
            *exponent = k + 1;
            return;
        }
    }
    int below = lower <= 4 * s, above = 4 * s + 4 <= upper;
    uint64_t half = 4 * s + 2;
    *exponent = k;
    *digits = below != above ? s + above : s + (middle > half || (middle == half && (s & 1)));
}

static int write_digits(char *out, uint64_t value) {
    char reversed[20];
    int size = 0;
    do reversed[size++] = (char)('0' + value % 10);
    while (value /= 10);
    for (int i = 0; i < size; i++) out[i] = reversed[size - 1 - i];
    return size;
}

static inline int write_integer(char *out, double value) {
    int sign = value < 0;
    if (sign) *out = '-';
    return sign + write_digits(out + sign, (uint64_t)fabs(value));
}

/* At most 25 characters. */
static int write_float(char *out, double value) {
    char *p = out;
    if (signbit(value)) *p++ = '-';
    double size = fabs(value);
    if (size == 0) return memcpy(p, "0.0", 3), (int)(p - out) + 3;
    uint64_t digits;
    int exponent;
    double thousand = size * 1000;
    if (thousand < 1e12 && thousand >= 0.5 && (double)(uint64_t)(thousand + 0.5) / 1000 == size) {
        digits = (uint64_t)(thousand + 0.5); /* milliseconds, as almost every duration is */
        exponent = -3;
    } else {
        uint64_t bits;
        memcpy(&bits, &size, 8);
        shortest(bits, &digits, &exponent);
    }
    while (digits % 10 == 0) digits /= 10, exponent++;
    char text[20];
    int n = write_digits(text, digits);
    int point = n + exponent; /* digits before the decimal point */
    if (point > 16 || point <= -4) {
        *p++ = text[0];
        if (n > 1) {
            *p++ = '.';
            memcpy(p, text + 1, n - 1);
            p += n - 1;
        }
        int e = point - 1;
        *p++ = 'e';
        *p++ = e < 0 ? '-' : '+';
        e = e < 0 ? -e : e;
        if (e < 10) *p++ = '0';
        return (int)(p + write_digits(p, e) - out);
    }
    if (point <= 0) {
        memcpy(p, "0.0000", 6);
        p += 2 - point;
        memcpy(p, text, n);
        return (int)(p + n - out);
    }
    int before = n < point ? n : point;
    memcpy(p, text, before);
    p += before;
    for (int i = before; i < point; i++) *p++ = '0';
    *p++ = '.';
    if (n <= point) {
        *p++ = '0';
        return (int)(p - out);
    }
    memcpy(p, text + point, n - point);
    return (int)(p + n - point - out);
}
