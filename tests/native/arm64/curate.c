/* Curates a manifest with the library it is linked to and prints what Python would get: a line for each recording, then
   counts and the digest. No Python is needed, so that it runs wherever the library does. */
#include <stdio.h>
#include <stdlib.h>
#include "alm/batch.h"
#include "alm/parameters.h"
#include "whole_file.h"

typedef struct { int64_t rows, native, with_windows, windows, filtered, truncation_events; double duration; } Counts;

int assay_limit_level(int most);
Batch *alm_new(void);
void alm_free(Batch *batch);
int64_t alm_build(Batch *batch, const uint8_t *data, uint64_t size, const Parameters *parameters);
int64_t alm_overlap(Batch *batch, const Parameters *parameters);
void alm_counts(const Batch *batch, Counts *counts);
int64_t alm_digest(Batch *batch, const uint64_t *plain, uint64_t *digest);
int64_t alm_write(Batch *batch, int64_t from, int64_t to, int fd, const uint8_t **text);

int main(int words, char **word) {
    size_t size;
    uint8_t *data = words == 3 ? whole_file(word[2], &size) : 0;
    if (!data) return fprintf(stderr, "usage: %s LEVEL MANIFEST\n", word[0]), 2;
    assay_limit_level(atoi(word[1]));
    Parameters parameters = {.serial = 1, .lo = 108, .hi = 132, .min_rate = 16000, .min_bandwidth = 8000, .threshold = 0.5,
                             .target = 120, .min_speakers = 2, .max_speakers = 5, .truncation = 1,
                             .drop = {"words", 6}, .drop_top = {"segments\0words", 15}};
    Batch *batch = alm_new();
    int64_t rows = batch ? alm_build(batch, data, size, &parameters) : -1;
    if (rows < 0 || alm_overlap(batch, &parameters) < 0) return 1;
    const uint8_t *text;
    int64_t bytes = alm_write(batch, 0, rows, -1, &text);
    if (bytes < 0) return 1;
    fwrite(text, 1, (size_t)bytes, stdout);
    uint64_t *none = calloc((size_t)rows + 1, sizeof *none), digest;
    Counts counts;
    alm_counts(batch, &counts);
    if (!none || alm_digest(batch, none, &digest) < 0) return 1;
    printf("%lld rows, %lld native, %lld windows, %lld filtered, %a s, digest %016llx\n", (long long)counts.rows,
           (long long)counts.native, (long long)counts.windows, (long long)counts.filtered, counts.duration,
           (unsigned long long)digest);
    alm_free(batch);
    free(none), free(data);
    return 0;
}
