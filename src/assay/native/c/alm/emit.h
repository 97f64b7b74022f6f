/* Rows as JSON lines. A window's segments lie next to each other in the text: one copy writes them all. */
#pragma once
#include "digest.h"

static void put_number(Text *out, double value, int whole) {
    RESERVE(*out, 32);
    char *at = (char *)out->at + out->count;
    out->count += whole ? write_integer(at, value) : write_float(at, value);
}

static void put_count(Text *out, uint64_t value) {
    RESERVE(*out, 24);
    out->count += write_digits((char *)out->at + out->count, value);
}

static void put_range(Text *out, const Batch *batch, Range range, const char *absent) {
    if (range.size) text_add(out, batch->text.at + range.at, range.size);
    else text_add(out, absent, strlen(absent));
}

static void put_run(Text *out, const Batch *batch, const Segment *segments, uint32_t first, uint32_t whole, int32_t cut) {
    TEXT(out, "[");
    if (whole) {
        Range a = segments[first].text, b = segments[first + whole - 1].text;
        text_add(out, batch->text.at + a.at, b.at + b.size - a.at);
    }
    if (cut >= 0) {
        if (whole) TEXT(out, ", ");
        put_range(out, batch, batch->cuts.at[cut].text, "");
    }
    TEXT(out, "]");
}

static void put_window(Text *out, const Batch *batch, const Segment *segments, const Window *window) {
    TEXT(out, "{\"segments\": ");
    put_run(out, batch, segments, window->first, window->whole, window->cut);
    TEXT(out, ", \"speaker_durations\": [");
    for (int k = 0; k < 5; k++) {
        if (k) TEXT(out, ", ");
        put_number(out, window->speakers[k], window->whole_speakers >> k & 1);
    }
    TEXT(out, "]}");
}

static void put_losses(Text *out, const Batch *batch, const Row *row, const Segment *segments) {
    static const char *names[] = {"bw", "sr", "spk", "win", "no_spkr", "next_seg_bm"};
    const Loss *losses[] = {&row->bandwidth, &row->rate, &row->speakers, &row->window, &row->no_speaker, &row->next_narrow};
    for (int k = 0; k < 6; k++) {
        TEXT(out, ", \"lost_");
        text_add(out, names[k], strlen(names[k]));
        TEXT(out, "\": ");
        put_count(out, losses[k]->count);
        TEXT(out, ", \"dur_lost_");
        text_add(out, names[k], strlen(names[k]));
        TEXT(out, "\": ");
        put_number(out, losses[k]->duration, k == 1 && row->low_rate && row->whole_total);
    }
    TEXT(out, ", \"lost_win_full_data\": [");
    for (uint32_t i = 0; i < row->losts; i++) {
        const Lost *lost = &batch->losts.at[row->first_lost + i];
        if (i) TEXT(out, ", ");
        TEXT(out, "{\"index\": ");
        put_count(out, lost->first);
        TEXT(out, ", \"window_segs\": ");
        put_run(out, batch, segments, lost->first, lost->whole, lost->cut);
        TEXT(out, ", \"next_seg\": ");
        put_range(out, batch, segments[lost->next].text, "");
        TEXT(out, ", \"prev_seg\": ");
        put_range(out, batch, segments[lost->first ? lost->first - 1 : 0].text, "");
        TEXT(out, "}");
    }
    TEXT(out, "]}");
}

static void put_span(Text *out, const Batch *batch, const Segment *segments, const Window *window) {
    TEXT(out, "[");
    put_range(out, batch, window->cut >= 0 ? batch->cuts.at[window->cut].end_text
                                           : segments[window->first + window->whole - 1].end_text, "");
    TEXT(out, ", ");
    put_range(out, batch, segments[window->first].start_text, "");
    TEXT(out, "]");
}

static void put_filtered(Text *out, const Batch *batch, const Row *row, const Segment *segments) {
    const Window *windows = batch->windows.at + row->first_window;
    const uint32_t *order = batch->order.at + row->first_window, n = row->windows;
    double total = 0;
    uint8_t whole_total = 1;
#define WHOLE(window) (segments[(window)->first].whole_start & whole_end(batch, segments, window))
#define EACH(window) const Window *window = windows; window < windows + n; window++
#define COMMA(first) if (!(first)) TEXT(out, ", "); else first = 0
    for (EACH(window)) total += window->end - window->start, whole_total &= WHOLE(window);
    TEXT(out, ", \"total_dur_window\": ");
    put_number(out, total, whole_total);
    TEXT(out, ", \"total_dur_list_window\": [");
    int first = 1;
    for (EACH(window)) {
        COMMA(first);
        put_number(out, window->end - window->start, WHOLE(window));
    }
    TEXT(out, "], \"total_dur_list_window_timestamps\": [");
    first = 1;
    for (EACH(window)) {
        COMMA(first);
        put_span(out, batch, segments, window);
    }
    TEXT(out, "], \"filtered\": [");
    first = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (!windows[order[i]].kept) continue;
        COMMA(first);
        put_span(out, batch, segments, &windows[order[i]]);
    }
    TEXT(out, "], \"filtered_windows\": [");
    first = 1;
    for (EACH(window)) {
        if (!window->in_filtered) continue;
        COMMA(first);
        put_window(out, batch, segments, window);
    }
    TEXT(out, "], \"filtered_dur\": ");
    put_number(out, row->filtered, row->whole_filtered);
    TEXT(out, ", \"filtered_dur_list\": [");
    first = 1;
    for (uint32_t i = 0; i < n; i++) {
        const Window *window = &windows[order[i]];
        if (!window->kept) continue;
        COMMA(first);
        put_number(out, window->end - window->start, WHOLE(window));
    }
    TEXT(out, "], \"manifest_filepath\": null, \"swift_filepath\": ");
    put_range(out, batch, row->swift, "\"\"");
}

static void put_row(Text *out, const Batch *batch, const Row *row) {
    const Segment *segments = batch->segments.at + row->first_segment;
    TEXT(out, "{");
    if (row->low_rate) {
        TEXT(out, "\"audio_filepath\": ");
        put_range(out, batch, row->path, "null");
        TEXT(out, ", ");
    } else if (row->passed.size) {
        put_range(out, batch, row->passed, "");
        TEXT(out, ", ");
    }
    TEXT(out, "\"windows\": [");
    for (uint32_t i = 0; i < row->windows; i++) {
        if (i) TEXT(out, ", ");
        put_window(out, batch, segments, &batch->windows.at[row->first_window + i]);
    }
    TEXT(out, "], \"stats\": {\"total_segments\": ");
    put_count(out, row->segments);
    TEXT(out, ", \"total_dur\": ");
    put_number(out, row->total, row->whole_total);
    TEXT(out, ", \"swift_path\": ");
    put_range(out, batch, row->swift, "\"\"");
    TEXT(out, ", \"audio_sample_rate\": ");
    put_range(out, batch, row->rate_text, "0");
    put_losses(out, batch, row, segments);
    TEXT(out, ", \"truncation_events\": ");
    put_count(out, row->truncation_events);
    if (row->windows) put_filtered(out, batch, row, segments);
    else TEXT(out, ", \"filtered_windows\": [], \"filtered_dur\": 0.0, \"filtered_dur_list\": [], \"total_dur_window\": 0.0, "
                   "\"total_dur_list_window\": [], \"total_dur_list_window_timestamps\": [], \"filtered\": [], "
                   "\"manifest_filepath\": null, \"swift_filepath\": null");
    TEXT(out, "}\n");
}
