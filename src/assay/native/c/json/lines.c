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

API int64_t assay_json_keep(const int64_t *lines, const int64_t *numbers, const uint8_t *mask, int64_t rows,
                            uint8_t value, int64_t *kept, int64_t *kept_numbers) {
    int64_t count = 0;
    for (int64_t i = 0; i < rows; i++) {
        if (mask[i] != value) continue;
        kept[2 * count] = lines[2 * i];
        kept[2 * count + 1] = lines[2 * i + 1];
        kept_numbers[count++] = numbers[i];
    }
    return count;
}

API int64_t assay_json_runs(size_t size, const int64_t *lines, int64_t rows, int64_t *runs) {
    int64_t count = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t end = lines[2 * i + 1] + ((uint64_t)lines[2 * i + 1] < size);
        if (count && runs[2 * count - 1] == lines[2 * i]) {
            runs[2 * count - 1] = end;
        } else {
            runs[2 * count] = lines[2 * i];
            runs[2 * count + 1] = end;
            count++;
        }
    }
    return count;
}

API int64_t assay_json_raw(const uint8_t *data, size_t size, const int64_t *values, const uint8_t *kinds, int64_t rows,
                           uint8_t *to, int64_t room, int64_t *offsets) {
    int64_t written = offsets[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t quote = kinds[i] == FIELD_PLAIN || kinds[i] == FIELD_ESCAPED;
        int64_t start = values[2 * i] - quote, end = values[2 * i + 1] + quote;
        if (start < 0 || end < start || (uint64_t)end > size || end - start > room - written) return -1;
        memcpy(to + written, data + start, (size_t)(end - start));
        written += end - start;
        offsets[i + 1] = written;
    }
    return written;
}
