/* One line: an entry's own fields, and its segments one after the other, joined in the text as in a list. */
#pragma once
#include "segment.h"

static const Name ENTRY_NAMES[] = {
    {"audio_filepath", PATH}, {"audio_sample_rate", RATE}, {"swift_audio_filepath", SWIFT}, {"segments", SEGMENTS},
    {"windows", COMPUTED}, {"stats", COMPUTED}, {"truncation_events", COMPUTED}, {"total_dur_window", COMPUTED},
    {"total_dur_list_window", COMPUTED}, {"total_dur_list_window_timestamps", COMPUTED}, {"filtered", COMPUTED},
    {"filtered_windows", COMPUTED}, {"filtered_dur", COMPUTED}, {"filtered_dur_list", COMPUTED},
    {"manifest_filepath", COMPUTED}, {"swift_filepath", COMPUTED}, {0, 0}};

static At segments_end(Parser *parser, At p, Row *row) {
    row->first_segment = (uint32_t)parser->batch->segments.count;
    if (*p != '[') return 0;
    if (p[1] == ']') return p + 2;
    for (p++;;) {
        if (!(p = segment_end(parser, p))) return 0;
        row->segments++;
        if (*p == ']') return p + 1;
        if (!(p = separator_end(&parser->scan, p, ','))) return 0;
        TEXT(&parser->batch->text, ", ");
    }
}

static void add_passed(Parser *parser, At from, At to) {
    if (parser->scan.loose) add_normal(&parser->batch->text, from, to);
    else text_add(&parser->batch->text, from, to - from);
}

static Range copied(Parser *parser, At from, At to) {
    uint32_t at = (uint32_t)parser->batch->text.count;
    add_passed(parser, from, to);
    return (Range){at, (uint32_t)parser->batch->text.count - at};
}

/* The line without surrounding white space, `[p, end)`. 0: not sure. */
static int recording(Parser *parser, At p, At end, Row *row) {
    Batch *batch = parser->batch;
    const Parameters *parameters = parser->parameters;
    At path[2] = {0}, rate[2] = {0}, swift[2] = {0}, kept[MOST_KEYS][2];
    int has_segments = 0, fields = 0;
    double sample_rate = 0;
    parser->line = p;
    parser->speakers.count = 0;
    parser->names.count = 0;
    if (parser->scan.loose) RESERVE(parser->names, (size_t)(end - p) + 2 * PADDING);
    batch->words.count = 0;
    memset(parser->buckets, 0xFF, sizeof parser->buckets);
    if (*p++ != '{') return 0;
    for (int index = 0;; index++) {
        At field = p;
        const Key *key;
        p = key_end(&parser->scan, &parser->top, index, p, ENTRY_NAMES, &parameters->drop_top, &key);
        if (!p || key->id == COMPUTED) return 0;
        At value = p;
        if (key->id == SEGMENTS) {
            if (!(p = segments_end(parser, p, row))) return 0;
            has_segments = 1;
        } else if (key->id == RATE) {
            Number number;
            p = number_end(&parser->scan, p, &number);
            if (!p || !number.normal) return 0;
            sample_rate = number.value;
            rate[0] = value, rate[1] = p;
        } else {
            if (!(p = value_end(&parser->scan, p, !key->dropped || key->id != OTHER, 0))) return 0;
            if (key->id == PATH) path[0] = value, path[1] = p;
            if (key->id == SWIFT) swift[0] = value, swift[1] = p;
        }
        if (!key->dropped) kept[fields][0] = field, kept[fields++][1] = p;
        if (*p == '}') break;
        if (!(p = separator_end(&parser->scan, p, ','))) return 0;
    }
    if (p + 1 != end || !has_segments) return 0;
    Text *text = &batch->text;
    row->path = copied(parser, path[0], path[1]);
    row->rate_text = copied(parser, rate[0], rate[1]);
    row->swift = copied(parser, swift[0], swift[1]);
    row->low_rate = sample_rate < parameters->min_rate;
    row->passed.at = (uint32_t)text->count;
    for (int i = 0; i < fields; i++) {
        if (i) TEXT(text, ", ");
        add_passed(parser, kept[i][0], kept[i][1]);
    }
    row->passed.size = (uint32_t)text->count - row->passed.at;
    return 1;
}
