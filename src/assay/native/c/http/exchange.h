/* What is measured, as it lies in memory: the types of loadgen/http/exchanges.py. */
#pragma once

#include <stdint.h>

enum { ROW_NEW, ROW_DUE, ROW_IN_FLIGHT, ROW_ENDED };

struct row {
    int64_t intended_ns, sent_ns, first_byte_ns, end_ns;
    int64_t piece_start, body_start, body_bytes;
    int32_t pieces, connection, message;
    int16_t status;
    uint8_t fault, attempts, event_stream, state;
    int16_t spare;
    int32_t spare2;
};

struct piece {
    int64_t ns, body_end;
};
