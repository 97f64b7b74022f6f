#include <string.h>

#include "json/fields.h"
#include "level.h"

static int blank(const uint8_t *at, const uint8_t *end) {
    while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r'))) at++;
    return at == end;
}

API int64_t assay_json_lines(const uint8_t *data, size_t size, int64_t capacity, int64_t *lines, int64_t *numbers,
                             int64_t *seen) {
    const uint8_t *at = data, *end = data + size;
    int64_t found = 0, number = 0;
    for (; at < end; number++) {
        const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        if (!blank(at, stop)) {
            if (found == capacity) return -1;
            lines[2 * found] = at - data;
            lines[2 * found + 1] = stop - data;
            numbers[found++] = number;
        }
        at = stop < end ? stop + 1 : end;
    }
    *seen = number;
    return found;
}

API int64_t assay_json_count(const uint8_t *data, size_t size) {
    int64_t count = 1;
    for (size_t at = 0; at < size; at++) count += data[at] == '\n';
    return count;
}
