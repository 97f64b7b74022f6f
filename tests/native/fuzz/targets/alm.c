/* A block of manifest lines through all that the library does with one, at every level, by a batch that is new and by
   one that has learnt from the same lines: what is written must be the same. The first four bytes choose parameters, as
   `alm.py` reads them. */
#include "../check.h"
#include "alm/builders.h"

Batch *alm_new(void);
void alm_free(Batch *batch);
int64_t alm_lines(const uint8_t *data, uint64_t size);
int64_t alm_build(Batch *batch, const uint8_t *data, uint64_t size, const Parameters *parameters);
int64_t alm_overlap(Batch *batch, const Parameters *parameters);
int64_t alm_find(const Batch *batch, int64_t row, uint32_t kind, uint64_t line[2]);
int64_t alm_digest(Batch *batch, const uint64_t *plain, uint64_t *digest);
int64_t alm_write(Batch *batch, int64_t from, int64_t to, int fd, const uint8_t **text);
uint64_t alm_save(const Batch *batch, uint8_t *bytes);
int64_t alm_load(Batch *batch, const uint8_t *saved, uint64_t size);

enum { HEAD = 4 };
static const double DURATIONS[] = {120, 20, 33.3, 1e6};
static const double TOLERANCES[] = {0.1, 0, 0.5, 0.05};
static const double OVERLAPS[] = {0.5, 0, 1, 0.125};
static const Drop DROPS[] = {{"words", 6}, {"", 0}, {"text\0words", 11}, {"metrics\0speaker", 16}};
static const Drop TOPS[] = {{"segments\0words", 15}, {"words", 6}, {"", 0}, {"audio_filepath\0note\0segments", 29}};

static Parameters chosen(const uint8_t *head) {
    static uint64_t serial;
    double target = DURATIONS[head[0] & 3], tolerance = TOLERANCES[head[0] >> 2 & 3];
    const Drop *top = &TOPS[head[2] & 3];
    return (Parameters){
        .serial = ++serial,
        .lo = target - target * tolerance,
        .hi = target + target * tolerance,
        .min_rate = head[3] & 1 ? 16000 : 0,
        .min_bandwidth = head[3] & 2 ? 8000 : 0,
        .threshold = OVERLAPS[head[0] >> 4 & 3],
        .target = 120,
        .min_speakers = head[1] >> 4 & 3,
        .max_speakers = head[1] & 7,
        .truncation = head[1] >> 3 & 1,
        .keep_segments = !(top == &TOPS[0] || top == &TOPS[3]),
        .drop = DROPS[head[2] >> 2 & 3],
        .drop_top = *top,
    };
}

typedef struct { int64_t rows, size; uint64_t digest; uint8_t *text; } Result;

static Result curated(Batch *batch, const uint8_t *lines, size_t size, const Parameters *parameters) {
    Result result = {.rows = alm_build(batch, lines, size, parameters)};
    HOLDS(result.rows >= 0);
    uint64_t line[2];
    for (int64_t row = alm_find(batch, 0, PLAIN, line); row >= 0; row = alm_find(batch, row + 1, PLAIN, line))
        HOLDS(row < result.rows && line[0] < line[1] && line[1] <= size);
    HOLDS(alm_overlap(batch, parameters) >= 0);
    uint64_t *plain = calloc((size_t)result.rows + 1, sizeof *plain);
    HOLDS(alm_digest(batch, plain, &result.digest) == result.rows);
    free(plain);
    const uint8_t *text = 0;
    result.size = alm_write(batch, 0, result.rows, -1, &text);
    HOLDS(result.size >= 0);
    result.text = copied_with(text, (size_t)result.size, 0);
    return result;
}

static void same(Result a, Result b) {
    HOLDS(a.rows == b.rows && a.digest == b.digest && a.size == b.size && !memcmp(a.text, b.text, (size_t)a.size));
    free(b.text);
}

/* As it goes to another process. */
static void sent(const Batch *batch, Result result) {
    uint64_t size = alm_save(batch, 0);
    uint8_t *saved = malloc(size);
    HOLDS(alm_save(batch, saved) == size);
    Batch *other = alm_new();
    HOLDS(!alm_load(other, saved, size));
    free(saved);
    const uint8_t *text = 0;
    HOLDS(alm_write(other, 0, result.rows, -1, &text) == result.size);
    HOLDS(!result.size || !memcmp(text, result.text, (size_t)result.size));
    alm_free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEAD) return 0;
    Parameters parameters = chosen(data);
    size -= HEAD;
    uint8_t *lines = copied_with(data + HEAD, size, 1);
    int highest = assay_limit_level(2);
    Result first = {0};
    for (int level = highest; level >= 0; level--) {
        assay_limit_level(level);
        Batch *batch = alm_new();
        Result result = curated(batch, lines, size, &parameters);
        if (level == highest) first = result;
        else same(first, result);
        same(first, curated(batch, lines, size, &parameters));
        if (level == highest) sent(batch, first);
        alm_free(batch);
    }
    HOLDS(alm_lines(lines, size) == first.rows);
    free(first.text);
    free(lines);
    return 0;
}
