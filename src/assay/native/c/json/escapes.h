/* Escapes in JSON strings (RFC 8259, section 7). */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Bytes of the escape that begins at `at` (a backslash); 0 if it is none, or half of a pair of surrogates. */
int escape_size(const uint8_t *at, const uint8_t *end);
