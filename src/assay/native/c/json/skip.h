/* The loops that pass over long strings: everything else in this folder looks at single bytes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The first byte in [at, end) that a JSON string cannot just contain: a quote, a backslash or a control character
   (below 0x20); `end` if there is none. */
typedef const uint8_t *(*stop_finder)(const uint8_t *at, const uint8_t *end);

/* The same, and all bytes before it are copied to `to`. Behind them it may write too, but not behind to + (end - at). */
typedef const uint8_t *(*stop_copier)(const uint8_t *at, const uint8_t *end, uint8_t *to);

/* Whether [at, end) is UTF-8 as RFC 3629 has it: shortest forms only, no surrogates, nothing above U+10FFFF. */
typedef int (*utf8_check)(const uint8_t *at, const uint8_t *end);

struct skip {
    stop_finder stop;
    stop_copier copy;
    utf8_check utf8;
};

/* The fastest of each that may be used here. */
struct skip assay_skip(void);

const uint8_t *stop_scalar(const uint8_t *at, const uint8_t *end);
const uint8_t *copy_scalar(const uint8_t *at, const uint8_t *end, uint8_t *to);
int utf8_scalar(const uint8_t *at, const uint8_t *end);
#if defined(__x86_64__)
const uint8_t *stop_avx2(const uint8_t *at, const uint8_t *end);
const uint8_t *copy_avx2(const uint8_t *at, const uint8_t *end, uint8_t *to);
int utf8_avx2(const uint8_t *at, const uint8_t *end);
const uint8_t *stop_avx512(const uint8_t *at, const uint8_t *end);
const uint8_t *copy_avx512(const uint8_t *at, const uint8_t *end, uint8_t *to);
int utf8_avx512(const uint8_t *at, const uint8_t *end);
#endif
