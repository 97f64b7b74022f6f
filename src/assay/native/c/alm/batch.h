/* What the stages hand on: a window is a range of segments, a segment a range of normal-form text. */
#pragma once
#include "memory.h"

enum { NATIVE, PLAIN, BAD };                                   /* who does a row; BAD rows have no output */
enum { NOBODY = -1, NO_SPEAKER = -2, SPEAKER_MISSING = -3 };   /* where a segment names no speaker */

typedef struct { uint32_t at, size; } Range;                   /* of Batch.text */
#define MOST_TEXT UINT32_MAX                                   /* bytes: a Range has no more */

typedef struct {
    double start, end, duration;
    int32_t speaker;
    uint8_t narrow, whole_start, whole_end, whole_duration;    /* whole: an integer in the input stays one */
    uint8_t has_words, odd_words;
    uint32_t first_word, words;
    Range text, start_text, end_text, text_value, words_value; /* ranges of size 0 are absent */
} Segment;

typedef struct {
    double end;
    uint8_t whole_end;
    uint32_t word, word_size, end_at, end_size, object, object_size; /* offsets into the line */
} Word;

typedef struct { double end; uint8_t whole_end; Range text, end_text; } Cut;

typedef struct {
    uint32_t first, whole;                                     /* segments of the recording: index, how many */
    int32_t cut;                                               /* index of the cut copy that ends it, or -1 */
    uint8_t kept, in_filtered, whole_speakers;                 /* whole_speakers: bit k, speaker_durations[k] is an integer */
    double start, end, speakers[5];
} Window;

typedef struct { uint32_t first, whole, next; int32_t cut; } Lost;

typedef struct { int64_t count; double duration; } Loss;

typedef struct {
    uint64_t line_start, line_end;
    uint32_t kind, low_rate, first_segment, segments, first_window, windows, first_lost, losts, kept;
    int64_t truncation_events;
    double total;
    uint8_t whole_total;
    Loss bandwidth, rate, speakers, window, no_speaker, next_narrow;
    Range passed, path, rate_text, swift;
    double filtered;
    uint8_t whole_filtered;
} Row;

typedef struct {
    ARRAY(Row) rows;
    ARRAY(Segment) segments;
    ARRAY(Cut) cuts;
    ARRAY(Window) windows;
    ARRAY(Lost) losts;
    ARRAY(uint32_t) order;                                     /* windows of a row by (start, end), at first_window */
    Text text;
    /* Scratch, not part of the result. */
    ARRAY(Word) words;
    Text out;
    ARRAY(uint64_t) hashes;
    struct Workspace *workspace;
} Batch;
