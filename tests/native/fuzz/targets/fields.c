/* Lines of JSON: where they stand, where their fields stand, and the texts of these, at every level alike. */
#include "../check.h"
#include "json/fields.h"

enum { COUNT = 3 };
static const uint8_t *const NAMES[COUNT] = {(const uint8_t *)"id", (const uint8_t *)"text", (const uint8_t *)"a"};
static const int64_t SIZES[COUNT] = {2, 4, 1};

typedef struct {
    int64_t rows, seen, unsure, room, written, *lines, *numbers, *values, *offsets;
    uint8_t *kinds, *texts;
} Scan;

static int64_t *numbers(int64_t count) {
    int64_t *made = calloc((size_t)count + 1, sizeof *made);
    HOLDS(made);
    return made;
}

static Scan scanned(const uint8_t *data, size_t size) {
    int64_t most = assay_json_count(data, size);
    Scan scan = {.lines = numbers(2 * most), .numbers = numbers(most)};
    scan.rows = assay_json_lines(data, size, most, scan.lines, scan.numbers, &scan.seen);
    HOLDS(scan.rows >= 0 && scan.rows <= most && scan.seen <= most);
    if (scan.rows) HOLDS(assay_json_lines(data, size, scan.rows - 1, scan.lines, scan.numbers, &scan.seen) == -1);
    int64_t cells = scan.rows * COUNT;
    scan.values = numbers(2 * cells), scan.offsets = numbers(cells + 1);
    scan.kinds = malloc((size_t)cells + 1);
    scan.unsure = assay_json_fields(data, size, scan.lines, scan.rows, NAMES, SIZES, COUNT, scan.values, scan.kinds);
    HOLDS(scan.unsure >= 0 && scan.unsure <= scan.rows);
    for (int64_t at = 0; at < cells; at++) {
        const int64_t *line = scan.lines + at / COUNT * 2, *value = scan.values + 2 * at;
        HOLDS(scan.kinds[at] <= FIELD_UNSURE && value[0] <= value[1]);
        if (scan.kinds[at] != FIELD_MISSING && scan.kinds[at] != FIELD_UNSURE)
            HOLDS(value[0] > line[0] && value[1] < line[1]);
    }
    scan.room = assay_json_room(scan.values, cells);
    HOLDS(scan.room >= 0 && scan.room <= (int64_t)size);
    scan.texts = malloc((size_t)scan.room + 1);
    scan.written = assay_json_texts(data, size, scan.values, scan.kinds, cells, scan.texts, scan.room, scan.offsets);
    HOLDS(scan.written >= 0 && scan.written <= scan.room);
    return scan;
}

static void drop(Scan scan) {
    free(scan.lines), free(scan.numbers), free(scan.values), free(scan.offsets), free(scan.kinds), free(scan.texts);
}

static void same(Scan a, Scan b) {
    size_t cells = (size_t)a.rows * COUNT;
    HOLDS(a.rows == b.rows && a.seen == b.seen && a.unsure == b.unsure && a.written == b.written);
    HOLDS(!memcmp(a.values, b.values, 2 * cells * sizeof *a.values) && !memcmp(a.kinds, b.kinds, cells));
    HOLDS(!memcmp(a.texts, b.texts, (size_t)a.written));
}

/* Any bytes at all as the inside of a string: an answer or a refusal, and no more room than they take. */
static int64_t unescaped(const uint8_t *data, size_t size) {
    uint8_t *to = malloc(size + 1);
    int64_t written = assay_json_unescape(data, data + size, to);
    HOLDS(written <= (int64_t)size);
    free(to);
    return written;
}

int LLVMFuzzerTestOneInput(const uint8_t *given, size_t size) {
    uint8_t *data = copied_with(given, size, 0);
    int highest = assay_limit_level(2);
    Scan first = scanned(data, size);
    int64_t written = unescaped(data, size);
    for (int level = highest - 1; level >= 0; level--) {
        assay_limit_level(level);
        Scan other = scanned(data, size);
        same(first, other);
        HOLDS(unescaped(data, size) == written);
        drop(other);
    }
    drop(first);
    free(data);
    return 0;
}
