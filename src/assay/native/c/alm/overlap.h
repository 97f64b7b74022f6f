/* The overlap filter: spans by (start, end), each compared with those that begin before it ends. */
#pragma once
#include <math.h>
#include "batch.h"
#include "parameters.h"

static inline int before(const Window *windows, uint32_t a, uint32_t b) {
    if (windows[a].start != windows[b].start) return windows[a].start < windows[b].start;
    return windows[a].end < windows[b].end;
}

/* Stable; one pass when they are in order already, as they are unless starts go back. */
static void sort_windows(const Window *windows, uint32_t *order, uint32_t n, uint32_t *scratch) {
    uint32_t i = 1;
    while (i < n && !before(windows, order[i], order[i - 1])) i++;
    if (i >= n) return;
    uint32_t half = n / 2, a = 0, b = half, to = 0;
    sort_windows(windows, order, half, scratch);
    sort_windows(windows, order + half, n - half, scratch);
    memcpy(scratch, order, n * sizeof *order);
    while (a < half && b < n) order[to++] = before(windows, scratch[b], scratch[a]) ? scratch[b++] : scratch[a++];
    while (a < half) order[to++] = scratch[a++];
    while (b < n) order[to++] = scratch[b++];
}

static void walk(Window *windows, const uint32_t *order, uint32_t n, uint32_t i, const Parameters *parameters) {
    Window *a = &windows[order[i]];
    double a_long = a->end - a->start, a_far = fabs(a_long - parameters->target);
    for (uint32_t j = i + 1; j < n; j++) {
        Window *b = &windows[order[j]];
        if (b->start >= a->end) return;
        if (!b->kept) continue;
        double b_long = b->end - b->start;
        double shorter = b_long < a_long ? b_long : a_long;
        double overlap = (b->end < a->end ? b->end : a->end) - (b->start > a->start ? b->start : a->start);
        double ratio = shorter != 0 ? (overlap > 0 ? overlap : 0) / shorter : 0;
        if (!(ratio >= parameters->threshold)) continue;
        double b_far = fabs(b_long - parameters->target);
        if (a_far < b_far || (a_far == b_far && a_long >= b_long)) {
            b->kept = 0;
        } else {
            a->kept = 0;
            return;
        }
    }
}

#define NEAR 2e-6 /* spans further apart than this differ in their sixth digit as well */

/* Does a dropped window's span, rounded to 6 digits, equal a kept one's? -1: too close to tell by distance. */
static int equals_kept(const Window *windows, const uint32_t *order, uint32_t n, uint32_t i) {
    const Window *window = &windows[order[i]];
    int found = 0;
    for (int step = -1; step <= 1; step += 2)
        for (int64_t j = (int64_t)i + step; j >= 0 && j < n; j += step) {
            const Window *other = &windows[order[j]];
            if (fabs(other->start - window->start) > NEAR) break;
            if (!other->kept || fabs(other->end - window->end) > NEAR) continue;
            if (other->start != window->start || other->end != window->end) return -1;
            found = 1;
        }
    return found;
}

static int overlap(Batch *batch, Row *row, const Parameters *parameters, uint32_t *scratch) {
    Window *windows = batch->windows.at + row->first_window;
    uint32_t *order = batch->order.at + row->first_window, n = row->windows;
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
        windows[i].kept = 1;
    }
    sort_windows(windows, order, n, scratch);
    for (uint32_t i = 0; i < n; i++)
        if (windows[order[i]].kept) walk(windows, order, n, i, parameters);
    const Segment *segments = batch->segments.at + row->first_segment;
    double size = 0;
    row->whole_filtered = 1;
    for (uint32_t i = 0; i < n; i++) {
        Window *window = &windows[order[i]];
        size += fabs(window->end - window->start);
        window->in_filtered = window->kept;
        if (!window->kept) {
            int equal = equals_kept(windows, order, n, i);
            if (equal < 0) return 0;
            window->in_filtered = (uint8_t)equal;
            continue;
        }
        row->kept++;
        row->filtered += window->end - window->start;
        uint8_t whole_end = window->cut >= 0 ? batch->cuts.at[window->cut].whole_end
                                             : segments[window->first + window->whole - 1].whole_end;
        row->whole_filtered &= whole_end & segments[window->first].whole_start;
    }
    return size <= EXACT;
}
