/* ALM curation over a block of manifest lines. The rules are in docs/alm.md.
   A block goes through alm_build, alm_overlap and then alm_digest or alm_write. Rows the scanner is not sure of are
   left PLAIN for the caller, who does them in Python. Not for several threads on one batch. */
#include <errno.h>
#if defined(__linux__)
#include <malloc.h>
#endif
#include <unistd.h>
#include "builders.h"
#include "emit.h"
#include "level.h"
#include "overlap.h"

typedef struct { int64_t rows, native, with_windows, windows, filtered, truncation_events; double duration; } Counts;

API Batch *alm_new(void) {
    Batch *batch = calloc(1, sizeof(Batch));
    if (batch && !(batch->workspace = new_workspace())) free(batch), batch = 0;
    return batch;
}

/* Blocks of a megabyte come and go. Left to itself the allocator gives each back to the system, which maps and
   clears it again for the next one: as much work as parsing it. */
API void alm_keep_memory(void) {
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 64 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

/* Lines that are not blank. */
API int64_t alm_lines(const uint8_t *data, uint64_t size) {
    int64_t lines = 0;
    for (const uint8_t *p = data, *end = data + size; p < end;) {
        const uint8_t *newline = memchr(p, '\n', end - p);
        if (!newline) newline = end;
        while (p < newline && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
        lines += p < newline;
        p = newline + 1;
    }
    return lines;
}

API void alm_free(Batch *batch) {
    if (!batch) return;
    free(batch->rows.at), free(batch->segments.at), free(batch->cuts.at), free(batch->windows.at);
    free(batch->losts.at), free(batch->order.at), free(batch->text.at);
    free_workspace(batch->workspace);
    free(batch->words.at), free(batch->out.at), free(batch->hashes.at), free(batch);
}

/* `data` is followed by a 0 byte, as every Python bytes object is. Returns the number of rows. */
API int64_t alm_build(Batch *batch, const uint8_t *data, uint64_t size, const Parameters *parameters) {
#if defined(__x86_64__)
    if (assay_level() == LEVEL_AVX512) return build_avx512(batch, data, size, parameters);
    if (assay_level() == LEVEL_AVX2) return build_avx2(batch, data, size, parameters);
#endif
    return build_scalar(batch, data, size, parameters);
}

/* Returns how many rows it left to the caller. */
API int64_t alm_overlap(Batch *batch, const Parameters *parameters) {
    GUARDED(-1);
    int64_t unsure = 0;
    batch->order.count = 0;
    RESERVE(batch->order, 2 * batch->windows.count + 1);
    for (size_t i = 0; i < batch->rows.count; i++) {
        Row *row = &batch->rows.at[i];
        row->kept = 0;
        row->filtered = 0;
        if (row->kind != NATIVE || overlap(batch, row, parameters, batch->order.at + batch->windows.count)) continue;
        row->kind = PLAIN;
        unsure++;
    }
    batch->order.count = batch->windows.count;
    return unsure;
}

API void alm_counts(const Batch *batch, Counts *counts) {
    *counts = (Counts){.rows = (int64_t)batch->rows.count};
    for (size_t i = 0; i < batch->rows.count; i++) {
        const Row *row = &batch->rows.at[i];
        if (row->kind != NATIVE) continue;
        counts->native++;
        counts->with_windows += row->windows > 0;
        counts->windows += row->windows;
        counts->truncation_events += row->truncation_events;
        counts->duration += row->filtered;
        for (uint32_t k = 0; k < row->windows; k++) counts->filtered += batch->windows.at[row->first_window + k].in_filtered;
    }
}

/* Rows of `kind`, from `*row` on: its number, or -1; where its line is in the block. */
API int64_t alm_find(const Batch *batch, int64_t row, uint32_t kind, uint64_t line[2]) {
    for (; row < (int64_t)batch->rows.count; row++) {
        if (batch->rows.at[row].kind != kind) continue;
        line[0] = batch->rows.at[row].line_start;
        line[1] = batch->rows.at[row].line_end;
        return row;
    }
    return -1;
}

API void alm_set_kind(Batch *batch, int64_t row, uint32_t kind) { batch->rows.at[row].kind = kind; }

/* The duration each row keeps, for a sum in row order; rows that are not native are left as they are. */
API void alm_durations(const Batch *batch, double *durations) {
    for (size_t i = 0; i < batch->rows.count; i++)
        if (batch->rows.at[i].kind == NATIVE) durations[i] = batch->rows.at[i].filtered;
}

/* The digest of all rows in order; those of plain rows are given, bad ones left out. */
API int64_t alm_digest(Batch *batch, const uint64_t *plain, uint64_t *digest) {
    GUARDED(-1);
    uint64_t state = 0;
    int64_t counted = 0;
    for (size_t i = 0; i < batch->rows.count; i++) {
        const Row *row = &batch->rows.at[i];
        if (row->kind == BAD) continue;
        state = state * BASE + (row->kind == NATIVE ? row_digest(batch, row) : plain[i]);
        counted++;
    }
    *digest = state;
    return counted;
}

static int flushed(Text *out, int fd) {
    for (size_t done = 0; done < out->count;) {
        ssize_t wrote = write(fd, out->at + done, out->count - done);
        if (wrote < 0 && errno != EINTR) return 0;
        if (wrote > 0) done += wrote;
    }
    out->count = 0;
    return 1;
}

/* Native rows in [from, to) to a file, or, with fd -1, to `*text`, which is good until the batch is used again.
   Returns the bytes, -1 without memory, -2 with errno set. */
API int64_t alm_write(Batch *batch, int64_t from, int64_t to, int fd, const uint8_t **text) {
    GUARDED(-1);
    Text *out = &batch->out;
    int64_t total = 0;
    out->count = 0;
    for (int64_t i = from; i < to; i++) {
        if (batch->rows.at[i].kind != NATIVE) continue;
        size_t before = out->count;
        put_row(out, batch, &batch->rows.at[i]);
        total += out->count - before;
        if (fd >= 0 && (out->count > 1 << 20 || i + 1 == to) && !flushed(out, fd)) return -2;
    }
    if (fd >= 0 && !flushed(out, fd)) return -2;
    *text = out->at;
    return total;
}

#define SAVED(X) X(rows) X(segments) X(cuts) X(windows) X(losts) X(order) X(text)

/* A batch as bytes, for another process. Returns their number; writes them if `bytes` is not 0. */
API uint64_t alm_save(const Batch *batch, uint8_t *bytes) {
    uint64_t at = 0;
#define SAVE(array)                                                                        \
    do {                                                                                   \
        uint64_t count = batch->array.count, size = count * sizeof *batch->array.at;       \
        if (bytes) {                                                                       \
            memcpy(bytes + at, &count, 8);                                                 \
            if (size) memcpy(bytes + at + 8, batch->array.at, size);                       \
        }                                                                                  \
        at += 8 + size;                                                                    \
    } while (0);
    SAVED(SAVE)
    return at;
}

/* What alm_save wrote, of which there are `size` bytes. -1 also where they are too few for what they say they hold. */
API int64_t alm_load(Batch *batch, const uint8_t *saved, uint64_t size) {
    GUARDED(-1);
#define LOAD(array)                                                                        \
    do {                                                                                   \
        uint64_t count;                                                                    \
        if (size < 8) return -1;                                                           \
        memcpy(&count, saved, 8);                                                          \
        saved += 8, size -= 8;                                                             \
        if (count > size / sizeof *batch->array.at) return -1;                             \
        batch->array.count = 0;                                                            \
        RESERVE(batch->array, count + 1);                                                   \
        uint64_t bytes = count * sizeof *batch->array.at;                                  \
        if (bytes) memcpy(batch->array.at, saved, bytes);                                  \
        batch->array.count = count;                                                        \
        saved += bytes, size -= bytes;                                                     \
    } while (0);
    SAVED(LOAD)
    return size ? -1 : 0;
}

API int64_t alm_float(double value, char *out) { return write_float(out, value); }
