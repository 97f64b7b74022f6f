/* The window builder. A window's whole segments are a range [i, e). While starts do not go back, every segment that
   joined the window at i-1 also joins the one at i, so e only moves forward and each segment is taken in once. */
#pragma once
#include "segment.h"

static inline void lose(Loss *loss, double duration) {
    loss->count++;
    loss->duration += duration;
}

static void replaced(Text *text, const uint8_t *base, uint32_t *from, Range old, const void *new, size_t size) {
    uint32_t at = old.at;
    text_add(text, base + *from, at - *from);
    text_add(text, new, size);
    *from = at + old.size;
}

/* What is left of a segment's words by `limit`, as text and as a list. 0: the words are odd. */
static int cut_words(Parser *parser, const Segment *segment, double limit, Cut *cut, Text *spoken, Text *kept) {
    Batch *batch = parser->batch;
    if (segment->odd_words) return 0;
    cut->end = segment->start;
    cut->whole_end = segment->whole_start;
    cut->end_text = (Range){0, 0};
    spoken->count = kept->count = 0;
    TEXT(spoken, "\"");
    TEXT(kept, "[");
    const Word *word = batch->words.at + segment->first_word, *end = word + segment->words, *last = 0;
    for (; word < end; word++) {
        if (!(word->end <= limit)) continue;
        if (word->word_size) {
            if (spoken->count > 1) TEXT(spoken, " ");
            At from = parser->line + word->word;
            if (parser->scan.loose) add_characters(spoken, from, from + word->word_size);
            else text_add(spoken, from, word->word_size);
        }
        if (segment->words_value.size) {
            if (kept->count > 1) TEXT(kept, ", ");
            At from = parser->line + word->object;
            if (parser->scan.loose) add_normal(kept, from, from + word->object_size);
            else text_add(kept, from, word->object_size);
        }
        last = word;
    }
    TEXT(spoken, "\"");
    TEXT(kept, "]");
    if (last) {
        cut->end = last->end;
        cut->whole_end = last->whole_end;
        cut->end_text = (Range){last->end_at, last->end_size};
    }
    return 1;
}

static int32_t cut_copy(Parser *parser, const Segment *segment, Cut *cut, const Text *spoken, const Text *kept) {
    Batch *batch = parser->batch;
    Text *text = &batch->text;
    RESERVE(*text, segment->text.size + spoken->count + kept->count + 128);
    const uint8_t *end_bytes = cut->end_text.size ? parser->line + cut->end_text.at : text->at + segment->start_text.at;
    uint32_t end_size = cut->end_text.size ? cut->end_text.size : segment->start_text.size;
    const Drop *drop = &parser->parameters->drop;
    uint32_t begin = (uint32_t)text->count, from = segment->text.at;
    Range places[3] = {segment->end_text, segment->text_value, segment->words_value};
    for (int done = 0; done < 3; done++) {
        int next = -1;
        for (int i = 0; i < 3; i++)
            if (places[i].size && (next < 0 || places[i].at < places[next].at)) next = i;
        if (next < 0) break;
        if (next == 0) {
            cut->end_text.at = (uint32_t)text->count + places[0].at - from;
            replaced(text, text->at, &from, places[0], end_bytes, end_size);
            cut->end_text.size = end_size;
        } else if (next == 1) {
            replaced(text, text->at, &from, places[1], spoken->at, spoken->count);
        } else {
            replaced(text, text->at, &from, places[2], kept->at, kept->count);
        }
        places[next].size = 0;
    }
    text_add(text, text->at + from, segment->text.at + segment->text.size - 1 - from);
    if (!segment->has_words && !dropped(drop, (At) "words", 5)) TEXT(text, ", \"words\": []");
    if (!segment->text_value.size && !dropped(drop, (At) "text", 4)) {
        TEXT(text, ", \"text\": ");
        text_add(text, spoken->at, spoken->count);
    }
    TEXT(text, "}");
    cut->text = (Range){begin, (uint32_t)text->count - begin};
    PUSH(batch->cuts) = *cut;
    return (int32_t)batch->cuts.count - 1;
}

static void speaker_durations(Parser *parser, const Segment *segments, Window *window, const Segment *cut_segment,
                              const Cut *cut) {
    double *sums = parser->sums.at;
    uint8_t *whole = parser->whole_sums.at;
    uint32_t *seen = parser->seen.at, stamp = window->first + 1, *order = parser->counts.at + parser->speakers.count;
    uint32_t count = 0;
    for (uint32_t k = window->first; k < window->first + window->whole; k++) {
        int32_t id = segments[k].speaker;
        if (id < 0) continue;
        if (seen[id] != stamp) {
            seen[id] = stamp;
            order[count++] = id;
            sums[id] = 0.0;
            whole[id] = 1;
        }
        sums[id] += segments[k].duration;
        whole[id] &= segments[k].whole_duration;
    }
    if (cut && cut_segment->speaker >= 0) {
        int32_t id = cut_segment->speaker;
        if (seen[id] != stamp) {
            order[count++] = id;
            sums[id] = 0.0;
            whole[id] = 1;
        }
        sums[id] += cut->end - cut_segment->start;
        whole[id] &= cut->whole_end & cut_segment->whole_start;
    }
    /* The five longest, longest first; equal ones in the order they came (an integer can equal a float). */
    uint32_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        double sum = sums[order[i]];
        uint32_t at = size < 5 ? size++ : 5;
        while (at > 0 && window->speakers[at - 1] < sum) {
            if (at < 5) {
                window->speakers[at] = window->speakers[at - 1];
                window->whole_speakers = (window->whole_speakers & ~(1 << at)) |
                                         ((window->whole_speakers >> (at - 1) & 1) << at);
            }
            at--;
        }
        if (at < 5) {
            window->speakers[at] = sum;
            window->whole_speakers = (window->whole_speakers & ~(1 << at)) | (whole[order[i]] << at);
        }
    }
}

/* 0: not sure, the row goes to the strict way. */
static int windows(Parser *parser, Row *row, Text *spoken, Text *kept) {
    Batch *batch = parser->batch;
    const Parameters *parameters = parser->parameters;
    const Segment *segments = batch->segments.at + row->first_segment;
    uint32_t n = row->segments, speakers = (uint32_t)parser->speakers.count;
    double size = 0;
    row->whole_total = 1;
    for (uint32_t i = 0; i < n; i++) {
        size += fabs(segments[i].duration);
        row->total += segments[i].duration;
        row->whole_total &= segments[i].whole_duration;
    }
    if (size > EXACT) return 0;
    if (row->low_rate) {
        row->rate = (Loss){n, row->total};
        return 1;
    }
    RESERVE(parser->sums, speakers + 1);
    RESERVE(parser->whole_sums, speakers + 1);
    RESERVE(parser->counts, 2 * speakers + 2);
    RESERVE(parser->seen, speakers + 1);
    memset(parser->counts.at, 0, speakers * sizeof(uint32_t));
    memset(parser->seen.at, 0, speakers * sizeof(uint32_t));
    uint32_t *counts = parser->counts.at, e = 0;
    int64_t named = 0;
    for (uint32_t i = 0; i < n; i++) {
        const Segment *first = &segments[i];
        if (i && i - 1 < e && segments[i - 1].speaker >= 0) named -= --counts[segments[i - 1].speaker] == 0;
        if (e > i && first->start < segments[i - 1].start) {
            for (uint32_t k = i; k < e; k++)
                if (segments[k].speaker >= 0) named -= --counts[segments[k].speaker] == 0;
            e = i;
        }
        if (e < i) e = i;
        if (first->narrow) {
            lose(&row->bandwidth, first->duration);
            continue;
        }
        Cut cut;
        const Segment *cut_from = 0;
        for (; e < n; e++) {
            const Segment *next = &segments[e];
            if (next->narrow) break;
            int32_t id = next->speaker;
            int refused = id == NO_SPEAKER || (id >= 0 && !counts[id] && named + 1 > parameters->max_speakers);
            if (next->end - first->start > parameters->hi) {
                double limit = first->start + parameters->hi;
                if (!parameters->truncation || next->start >= limit) break;
                row->truncation_events++;
                if (!cut_words(parser, next, limit, &cut, spoken, kept)) return 0;
                if (!refused) cut_from = next;
                break;
            }
            if (refused) break;
            if (id >= 0) named += counts[id]++ == 0;
        }
        uint32_t stop = e < n ? e : n - 1, whole = e - i;
        double window_end = cut_from ? cut.end : whole ? segments[e - 1].end : first->end;
        double duration = window_end - first->start;
        if (!(parameters->lo <= duration && duration <= parameters->hi) || whole + (cut_from != 0) < 2) {
            lose(&row->window, first->duration);
            const Segment *at = &segments[stop];
            if (at->speaker == NO_SPEAKER || at->speaker == SPEAKER_MISSING) lose(&row->no_speaker, first->duration);
            else if (at->narrow) lose(&row->next_narrow, first->duration);
            PUSH(batch->losts) = (Lost){i, whole, stop, cut_from ? cut_copy(parser, cut_from, &cut, spoken, kept) : -1};
            row->losts++;
            if (batch->text.count > MOST_TEXT) return 0; /* cut copies of a long segment, one a window */
            continue;
        }
        int64_t in_window = named + (cut_from && cut_from->speaker >= 0 && !counts[cut_from->speaker]);
        if (in_window < parameters->min_speakers || in_window > parameters->max_speakers) {
            lose(&row->speakers, first->duration);
            continue;
        }
        Window *window = &PUSH(batch->windows);
        *window = (Window){.first = i, .whole = whole, .cut = -1, .start = first->start, .end = window_end};
        if (cut_from) window->cut = cut_copy(parser, cut_from, &cut, spoken, kept);
        speaker_durations(parser, segments, window, cut_from, cut_from ? &cut : 0);
        row->windows++;
        if (batch->text.count > MOST_TEXT) return 0;
    }
    return 1;
}
