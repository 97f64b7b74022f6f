/* One segment: its numbers, its speaker, its words if it may be cut, and its text without the dropped fields. */
#pragma once
#include "batch.h"
#include "layout.h"

#define BUCKETS 64
typedef struct { At name; uint32_t size; int whole; int32_t next; } Speaker; /* whole: an integer, not a name */

typedef struct {
    Batch *batch;
    const Parameters *parameters;
    Scan scan;
    At line;
    uint64_t serial;
    Layout top, segment, metrics, word;
    int32_t buckets[BUCKETS];
    ARRAY(Speaker) speakers;
    ARRAY(double) sums;
    ARRAY(uint8_t) whole_sums;
    ARRAY(uint32_t) counts;
    ARRAY(uint32_t) seen;
    Text names; /* of speakers that are escaped in the line, as they are written; long enough not to move */
} Parser;

static const Name SEGMENT_NAMES[] = {{"start", START}, {"end", END}, {"speaker", SPEAKER}, {"metrics", METRICS},
                                     {"words", WORDS}, {"text", TEXT_KEY}, {0, 0}};
static const Name METRICS_NAMES[] = {{"bandwidth", BANDWIDTH}, {0, 0}};
static const Name WORD_NAMES[] = {{"word", WORD}, {"end", END}, {0, 0}};

/* Kept fields that follow each other in the line are copied in one go. */
typedef struct { At from, to; uint32_t at; } Run;

static inline void run_flush(Text *text, Run *run, uint32_t begin) {
    if (!run->from) return;
    if (text->count > begin) TEXT(text, ", ");
    text_add(text, run->from, run->to - run->from);
    run->from = 0;
}

static inline void run_begin(const Text *text, Run *run, uint32_t begin, At key) {
    if (run->from) return;
    run->from = key;
    run->at = (uint32_t)text->count + (text->count > begin ? 2 : 0);
}

static inline Range run_range(const Run *run, At from, At to) {
    return (Range){run->at + (uint32_t)(from - run->from), (uint32_t)(to - from)};
}

/* 16 bytes at a time where that does not read too far; the text has room for them. */
static inline void add_short(Text *text, const Scan *scan, At from, size_t size) {
    if (size <= 16 && from <= scan->safe) memcpy(text->at + text->count, from, 16);
    else memcpy(text->at + text->count, from, size);
    text->count += size;
}

/* A field that is not in normal form, written as it should be. Returns where its value is in the text. */
static inline Range put_field(Text *text, uint32_t begin, const Scan *scan, const Key *key, At value, At end, int odd) {
    RESERVE(*text, (size_t)(end - value) + sizeof key->bytes + 16);
    if (text->count > begin) TEXT(text, ", ");
    memcpy(text->at + text->count, key->bytes, key->written <= 16 ? 16 : 64);
    text->count += key->written;
    uint32_t at = (uint32_t)text->count;
    if (odd) add_normal(text, value, end);
    else add_short(text, scan, value, end - value);
    return (Range){at, (uint32_t)text->count - at};
}

/* Of an integer the name is its digits, of which a normal one has only one spelling. */
static int32_t speaker_id(Parser *parser, At name, uint32_t size, int whole) {
    if (size == 0) return NOBODY;
    if (size == 10 && !memcmp(name, "no-speaker", 10)) return NO_SPEAKER;
    uint32_t bucket = (name[0] * 31u + name[size - 1] * 7u + size) % BUCKETS;
    for (int32_t id = parser->buckets[bucket]; id >= 0; id = parser->speakers.at[id].next) {
        const Speaker *known = &parser->speakers.at[id];
        if (known->size == size && known->whole == whole && !memcmp(known->name, name, size)) return id;
    }
    PUSH(parser->speakers) = (Speaker){name, size, whole, parser->buckets[bucket]};
    return parser->buckets[bucket] = (int32_t)parser->speakers.count - 1;
}

/* A name can be escaped in one segment and not in the next. */
static int32_t named_speaker(Parser *parser, At from, At to, int escaped) {
    if (!escaped) return speaker_id(parser, from, (uint32_t)(to - from), 0);
    size_t before = parser->names.count;
    add_characters(&parser->names, from, to);
    return speaker_id(parser, parser->names.at + before, (uint32_t)(parser->names.count - before), 0);
}

static At metrics_end(Parser *parser, At p, int normal, double *bandwidth) {
    if (*p != '{') return 0;
    if (*++p == '}') return p + 1;
    for (int index = 0;; index++) {
        const Key *key;
        p = key_end(&parser->scan, &parser->metrics, index, p, METRICS_NAMES, 0, &key);
        if (!p) return 0;
        if (key->id == BANDWIDTH) {
            Number number;
            p = number_end(&parser->scan, p, &number);
            if (!p || (normal && !number.normal)) return 0;
            *bandwidth = number.value;
        } else if (!(p = value_end(&parser->scan, p, normal, 0))) {
            return 0;
        }
        if (*p == '}') return p + 1;
        if (!(p = separator_end(&parser->scan, p, ','))) return 0;
    }
}

static At word_end(Parser *parser, At p, int normal) {
    Word word = {.object = (uint32_t)(p - parser->line), .end_size = 0};
    if (*p != '{' || p[1] == '}') return 0;
    p++;
    for (int index = 0;; index++) {
        const Key *key;
        p = key_end(&parser->scan, &parser->word, index, p, WORD_NAMES, 0, &key);
        if (!p) return 0;
        if (key->id == END) {
            Number number;
            At value = p;
            p = number_end(&parser->scan, p, &number);
            /* The last kept word's end becomes the segment's. */
            if (!p || !number.normal) return 0;
            word.end = number.value;
            word.whole_end = number.whole;
            word.end_at = (uint32_t)(value - parser->line);
            word.end_size = (uint32_t)(p - value);
        } else if (key->id == WORD && *p == '"') {
            At value = p + 1;
            p = string_end(&parser->scan, value);
            if (!p) return 0;
            word.word = (uint32_t)(value - parser->line);
            word.word_size = (uint32_t)(p++ - value);
        } else if (key->id == WORD && *p != 'n') {
            return 0;
        } else if (!(p = value_end(&parser->scan, p, normal, 0))) {
            return 0;
        }
        if (*p == '}') break;
        if (!(p = separator_end(&parser->scan, p, ','))) return 0;
    }
    if (!word.end_size) return 0;
    word.object_size = (uint32_t)(p + 1 - parser->line) - word.object;
    PUSH(parser->batch->words) = word;
    return p + 1;
}

static At words_end(Parser *parser, At p, Segment *segment, int normal) {
    segment->has_words = 1;
    if (*p != '[') {
        segment->odd_words = 1; /* wrong only if the segment is cut */
        return value_end(&parser->scan, p, normal, 0);
    }
    if (p[1] == ']') return p + 2;
    for (p++;;) {
        if (!(p = word_end(parser, p, normal))) return 0;
        segment->words++;
        if (*p == ']') return p + 1;
        if (!(p = separator_end(&parser->scan, p, ','))) return 0;
    }
}

static At segment_end(Parser *parser, At p) {
    Text *text = &parser->batch->text;
    const Parameters *parameters = parser->parameters;
    Segment segment = {.speaker = SPEAKER_MISSING, .first_word = (uint32_t)parser->batch->words.count};
    double bandwidth = 0;
    Run run = {0};
    uint32_t from = (uint32_t)text->count;
    if (*p != '{') return 0;
    p++;
    TEXT(text, "{");
    for (int index = 0;; index++) {
        At field = p;
        const Key *key;
        p = key_end(&parser->scan, &parser->segment, index, p, SEGMENT_NAMES, &parameters->drop, &key);
        if (!p) return 0;
        int normal = !key->dropped || parameters->keep_segments;
        At value = p;
        Range *place = 0;
        uint32_t odd = parser->scan.odd;
        if (key->id == START || key->id == END) {
            Number number;
            p = number_end(&parser->scan, p, &number);
            if (!p || !number.normal) return 0;
            if (key->id == START) segment.start = number.value, segment.whole_start = number.whole, place = &segment.start_text;
            else segment.end = number.value, segment.whole_end = number.whole, place = &segment.end_text;
        } else if (key->id == SPEAKER) {
            if (*p == '"') {
                if (!(p = string_end(&parser->scan, value + 1))) return 0;
                segment.speaker = named_speaker(parser, value + 1, p, parser->scan.odd != odd);
                p++;
            } else if (*p == '-' || (uint8_t)(*p - '0') < 10) {
                Number number;
                p = number_end(&parser->scan, p, &number);
                if (!p || !number.normal || !number.whole) return 0;
                segment.speaker = speaker_id(parser, value, (uint32_t)(p - value), 1);
            } else {
                if (*p != 'n' || !(p = value_end(&parser->scan, p, 1, 0))) return 0;
                segment.speaker = NOBODY;
            }
        } else if (key->id == METRICS) {
            if (!(p = metrics_end(parser, p, normal, &bandwidth))) return 0;
        } else if (key->id == WORDS && parameters->truncation) {
            if (!(p = words_end(parser, p, &segment, normal))) return 0;
            place = &segment.words_value;
        } else {
            if (!(p = value_end(&parser->scan, p, normal, 0))) return 0;
            if (key->id == TEXT_KEY) place = &segment.text_value;
        }
        int differs = parser->scan.odd != odd;
        Range range = {0};
        if (key->dropped || differs || key->size != key->written) run_flush(text, &run, from + 1);
        if (!key->dropped) {
            if (differs || key->size != key->written) {
                range = put_field(text, from + 1, &parser->scan, key, value, p, differs);
            } else {
                run_begin(text, &run, from + 1, field);
                range = run_range(&run, value, p);
            }
        }
        if (place) *place = range;
        run.to = p;
        if (*p == '}') break;
        if (!(p = separator_end(&parser->scan, p, ','))) return 0;
        if (p[-1] != ' ') run_flush(text, &run, from + 1);
    }
    if (!segment.start_text.size || !segment.end_text.size) return 0;
    run_flush(text, &run, from + 1);
    TEXT(text, "}");
    segment.text = (Range){from, (uint32_t)text->count - from};
    segment.duration = segment.end - segment.start;
    segment.whole_duration = segment.whole_start & segment.whole_end;
    segment.narrow = bandwidth < parameters->min_bandwidth;
    PUSH(parser->batch->segments) = segment;
    return p + 1;
}
