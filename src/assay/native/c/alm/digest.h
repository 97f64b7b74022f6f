/* A digest over every field of a row's output. `digest.py` is its definition; this one takes the hash of a window's
   segments from prefix sums of their polynomial, and so looks at every byte of the text once. */
#pragma once
#include "batch.h"
#include "decimal.h"

#define KEY_A 0xA0761D6478BD642Full
#define KEY_B 0xE7037ED1A0B428DBull
#define BASE 0x9E3779B97F4A7C15ull

static inline uint64_t multiply(uint64_t a, uint64_t b) {
    u128 product = (u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t stir(uint64_t value) {
    value *= BASE;
    return value ^ value >> 29;
}

static uint64_t bytes_hash(const uint8_t *p, size_t size) {
    uint64_t state = KEY_A ^ size, pair[2];
    for (; size >= 16; p += 16, size -= 16) {
        memcpy(pair, p, 16);
        state = multiply(pair[0] ^ KEY_B, pair[1] ^ state);
    }
    if (size) {
        pair[0] = pair[1] = 0;
        memcpy(pair, p, size);
        state = multiply(pair[0] ^ KEY_B, pair[1] ^ state);
    }
    return multiply(state, KEY_A);
}

static inline uint64_t float_hash(double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return stir(bits ^ KEY_B);
}

static inline uint64_t integer_hash(double value) { return stir((uint64_t)(int64_t)value ^ KEY_A); }

static inline uint64_t number_hash(double value, int whole) { return whole ? integer_hash(value) : float_hash(value); }

static inline void fold(uint64_t *state, uint64_t item) { *state = stir(*state ^ item); }

typedef struct { const uint64_t *segments, *prefix, *powers; } Hashes; /* of a row, then BASE^k */

static uint64_t run_hash(const Batch *batch, const Hashes *hashes, uint32_t first, uint32_t whole, int32_t cut) {
    uint64_t state = hashes->prefix[first + whole] - hashes->prefix[first] * hashes->powers[whole];
    if (cut >= 0) {
        Range text = batch->cuts.at[cut].text;
        state = state * BASE + bytes_hash(batch->text.at + text.at, text.size);
    }
    return stir(state ^ (whole + (cut >= 0)));
}

static uint64_t window_fold(uint64_t state, const Batch *batch, const Hashes *hashes, const Window *window) {
    fold(&state, run_hash(batch, hashes, window->first, window->whole, window->cut));
    uint64_t speakers = KEY_B;
    for (int k = 0; k < 5; k++) fold(&speakers, number_hash(window->speakers[k], window->whole_speakers >> k & 1));
    return stir(state ^ speakers);
}

static inline uint8_t whole_end(const Batch *batch, const Segment *segments, const Window *window) {
    if (window->cut >= 0) return batch->cuts.at[window->cut].whole_end;
    return segments[window->first + window->whole - 1].whole_end;
}

static void prepare(Batch *batch, const Row *row, Hashes *hashes) {
    const Segment *segments = batch->segments.at + row->first_segment;
    uint32_t n = row->segments;
    batch->hashes.count = 0;
    RESERVE(batch->hashes, 3 * (size_t)n + 2);
    uint64_t *own = batch->hashes.at, *prefix = own + n, *powers = prefix + n + 1;
    prefix[0] = 0;
    powers[0] = 1;
    for (uint32_t i = 0; i < n; i++) {
        own[i] = bytes_hash(batch->text.at + segments[i].text.at, segments[i].text.size);
        prefix[i + 1] = prefix[i] * BASE + own[i];
        powers[i + 1] = powers[i] * BASE;
    }
    *hashes = (Hashes){own, prefix, powers};
}

static uint64_t text_hash(const Batch *batch, Range range, const char *absent) {
    if (!range.size) return bytes_hash((const uint8_t *)absent, strlen(absent));
    return bytes_hash(batch->text.at + range.at, range.size);
}

static uint64_t stats_hash(const Batch *batch, const Row *row, const Hashes *hashes) {
    uint64_t state = KEY_B, lost = KEY_B;
    fold(&state, integer_hash(row->segments));
    fold(&state, number_hash(row->total, row->whole_total));
    fold(&state, text_hash(batch, row->swift, "\"\""));
    fold(&state, text_hash(batch, row->rate_text, "0"));
    const Loss *losses[] = {&row->bandwidth, &row->rate, &row->speakers, &row->window, &row->no_speaker, &row->next_narrow};
    for (int k = 0; k < 6; k++) {
        fold(&state, integer_hash((double)losses[k]->count));
        fold(&state, number_hash(losses[k]->duration, k == 1 && row->low_rate && row->whole_total));
    }
    for (const Lost *at = batch->losts.at + row->first_lost, *end = at + row->losts; at < end; at++) {
        fold(&lost, at->first);
        fold(&lost, run_hash(batch, hashes, at->first, at->whole, at->cut));
        fold(&lost, hashes->segments[at->next]);
        fold(&lost, hashes->segments[at->first ? at->first - 1 : 0]);
    }
    fold(&state, lost);
    return state;
}

static uint64_t passed_hash(Batch *batch, const Row *row) {
    Text *out = &batch->out;
    out->count = 0;
    TEXT(out, "{");
    if (row->low_rate) {
        TEXT(out, "\"audio_filepath\": ");
        if (row->path.size) text_add(out, batch->text.at + row->path.at, row->path.size);
        else TEXT(out, "null");
    } else {
        text_add(out, batch->text.at + row->passed.at, row->passed.size);
    }
    TEXT(out, "}");
    return bytes_hash(out->at, out->count);
}

static uint64_t row_digest(Batch *batch, const Row *row) {
    const Segment *segments = batch->segments.at + row->first_segment;
    const Window *windows = batch->windows.at + row->first_window;
    const uint32_t *order = batch->order.at + row->first_window, n = row->windows;
    Hashes hashes;
    prepare(batch, row, &hashes);
    uint64_t state = KEY_B, built = KEY_B, lengths = KEY_B, spans = KEY_B, kept = KEY_B, filtered = KEY_B, kept_lengths = KEY_B;
    double total = 0;
    uint8_t whole_total = 1;
    for (uint32_t i = 0; i < n; i++) {
        const Window *window = &windows[i];
        uint8_t start = segments[window->first].whole_start, end = whole_end(batch, segments, window);
        double length = window->end - window->start;
        built = window_fold(built, batch, &hashes, window);
        if (window->in_filtered) filtered = window_fold(filtered, batch, &hashes, window);
        total += length;
        whole_total &= start & end;
        fold(&lengths, number_hash(length, start & end));
        fold(&spans, number_hash(window->end, end));
        fold(&spans, number_hash(window->start, start));
    }
    for (uint32_t i = 0; i < n; i++) {
        const Window *window = &windows[order[i]];
        if (!window->kept) continue;
        uint8_t start = segments[window->first].whole_start, end = whole_end(batch, segments, window);
        fold(&kept, number_hash(window->end, end));
        fold(&kept, number_hash(window->start, start));
        fold(&kept_lengths, number_hash(window->end - window->start, start & end));
    }
    fold(&state, passed_hash(batch, row));
    fold(&state, built);
    fold(&state, stats_hash(batch, row, &hashes));
    fold(&state, integer_hash((double)row->truncation_events));
    fold(&state, number_hash(total, n && whole_total));
    fold(&state, lengths);
    fold(&state, spans);
    fold(&state, kept);
    fold(&state, filtered);
    fold(&state, number_hash(row->filtered, n && row->whole_filtered));
    fold(&state, kept_lengths);
    fold(&state, text_hash(batch, (Range){0, 0}, "null"));
    fold(&state, n ? text_hash(batch, row->swift, "\"\"") : text_hash(batch, (Range){0, 0}, "null"));
    return state;
}
