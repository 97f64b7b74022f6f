/* What OpenAI-compatible servers say in their answers, read after the run: the types of loadgen/http/event_stream.py. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "http/exchange.h"
#include "level.h"

enum kind {
    KIND_ROLE = 1,
    KIND_CONTENT = 2,
    KIND_REASONING = 4,
    KIND_TOOL = 8,
    KIND_USAGE = 16,
    KIND_FINISH = 32,
    KIND_DONE = 64,
    KIND_ERROR = 128,
    KIND_MALFORMED = 256,
    KIND_UNSURE = 512, /* only here: Python reads the answer again */
};

struct delta {
    int64_t ns, data_start;
    int32_t data_bytes, request;
    uint32_t kind;
    int32_t choice;
    int64_t text_start;
    int32_t reasoning_bytes, text_bytes;
};

struct token_counts {
    int64_t input, output, reasoning, cached;
};

/* Reads one JSON document. Text is decoded to `text`, which has room for `count` bytes: reasoning first, then content;
   the delta gets kind, choice and the two lengths. Pure: no memory but what is given. */
API void delta_read(
    const uint8_t *bytes, size_t count, struct delta *delta, struct token_counts *counts, uint8_t *text);

struct reading {
    const struct row *rows;
    int64_t row_count;
    const struct piece *pieces;
    int64_t piece_count;
    const uint8_t *bodies;
    int64_t body_bytes;
    struct delta *deltas;
    int64_t delta_room;
    struct token_counts *counts;
    uint8_t *texts; /* as large as the bodies */
    int64_t text_bytes;
    uint8_t *unsure; /* one a row: 1 where Python must read the answer */
};

/* Number of deltas, or -1: there are more than there is room for. */
API int64_t delta_read_all(struct reading *reading);

/* At least as many as there are events and bodies. */
API int64_t delta_most(const struct reading *reading);
