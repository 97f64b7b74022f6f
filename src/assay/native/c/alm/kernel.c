/* ALM curation over a block of manifest lines. The rules are in docs/alm.md.
   A block goes through alm_build, alm_overlap and then alm_digest or alm_write. Rows the scanner is not sure of are
   left PLAIN for the caller, who does them in Python. Not for several threads on one batch. */
#include <errno.h>
#if defined(__linux__)
#include <malloc.h>
#endif
#include <unistd.h>
#include "level.h"
#include "emit.h"
#include "overlap.h"
#include "recording.h"
#include "windows.h"

#define GUARDED(failed)                      \
    jmp_buf back;                            \
    out_of_memory = &back;                   \
    if (setjmp(back)) return failed

typedef struct { int64_t rows, native, with_windows, windows, filtered, truncation_events; double duration; } Counts;

typedef struct Workspace { Parser parser; Text spoken, kept; } Workspace; /* layouts learnt from a block serve the next */

API Batch *alm_new(void) {
    Batch *batch = calloc(1, sizeof(Batch));
    if (batch && !(batch->workspace = calloc(1, sizeof(Workspace)))) free(batch), batch = 0;
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
    for (At p = data, end = data + size; p < end;) {
        At newline = memchr(p, '\n', end - p);
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
    Workspace *workspace = batch->workspace;
    Parser *parser = &workspace->parser;
    free(parser->speakers.at), free(parser->sums.at), free(parser->whole_sums.at), free(parser->counts.at), free(parser->seen.at);
    free(workspace->spoken.at), free(workspace->kept.at), free(workspace);
    free(batch->words.at), free(batch->out.at), free(batch->hashes.at), free(batch);
}

static void build_row(Batch *batch, Parser *parser, At start, At end, At data) {
    Row *row = &PUSH(batch->rows);
    size_t segments = batch->segments.count, cuts = batch->cuts.count, built = batch->windows.count,
           losts = batch->losts.count, text = batch->text.count;
    *row = (Row){.line_start = start - data, .line_end = end - data};
    row->first_window = (uint32_t)built;
    row->first_lost = (uint32_t)losts;
    int sure = recording(parser, start, end, row) && windows(parser, row, &batch->workspace->spoken, &batch->workspace->kept);
    if (sure && batch->text.count <= UINT32_MAX) return; /* a Range has no more; cut copies can add up to it */
    batch->segments.count = segments, batch->cuts.count = cuts, batch->windows.count = built;
    batch->losts.count = losts, batch->text.count = text;
    *row = (Row){.line_start = start - data, .line_end = end - data, .kind = PLAIN};
}

/* `data` is followed by a 0 byte, as every Python bytes object is. Returns the number of rows. */
API int64_t alm_build(Batch *batch, const uint8_t *data, uint64_t size, const Parameters *parameters) {
    GUARDED(-1);
    Parser *parser = &batch->workspace->parser;
    if (parser->serial != parameters->serial) parser->top.count = parser->segment.count = 0; /* they know what is dropped */
    parser->serial = parameters->serial;
    parser->batch = batch;
    parser->parameters = parameters;
    parser->limit.safe = data + size - 16;
    if (size < 16) parser->limit.safe = data - 1;
    batch->rows.count = batch->segments.count = batch->cuts.count = batch->windows.count = 0;
    batch->losts.count = batch->order.count = batch->text.count = 0;
    /* A place in an array that was never needed would be counted from a null pointer, which C does not allow. */
    RESERVE(batch->segments, 1);
    RESERVE(batch->windows, 1);
    RESERVE(batch->losts, 1);
    RESERVE(batch->words, 1);
    RESERVE(batch->cuts, 1);
    RESERVE(batch->text, 1);
    for (At p = data, end = data + size; p < end;) {
        At newline = memchr(p, '\n', end - p), last = newline ? newline : end, next = newline ? newline + 1 : end;
        while (p < last && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
        while (last > p && (last[-1] == ' ' || last[-1] == '\t' || last[-1] == '\r')) last--;
        if (p < last) build_row(batch, parser, p, last, data);
        p = next;
    }
    return (int64_t)batch->rows.count;
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
