/* An HTTP/1.1 response, cut by hand as its bytes come (RFC 9112, sections 4 to 7). A pure function over state and bytes:
   it allocates nothing and trusts nothing. loadgen/http/response_reader.py does the same in Python. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "level.h"

enum { LONGEST_LINE = 8192, LONGEST_HEAD = 65536 };

enum response_state {
    RESPONSE_STATUS,
    RESPONSE_HEADERS,
    RESPONSE_LENGTH_BODY,
    RESPONSE_CHUNK_SIZE,
    RESPONSE_CHUNK_BODY,
    RESPONSE_CHUNK_END,
    RESPONSE_TRAILERS,
    RESPONSE_UNTIL_CLOSE,
    RESPONSE_DONE,
    RESPONSE_MALFORMED,
};

struct response {
    uint8_t state;
    uint8_t no_body; /* the answer to a HEAD request */
    uint8_t chunked;
    uint8_t event_stream; /* the content type is text/event-stream */
    uint8_t keep_alive;
    uint8_t has_length;
    int16_t status;
    uint32_t line_bytes; /* of a line that began in an earlier receipt */
    uint32_t head_bytes; /* since the last border between head and body */
    uint64_t left;       /* bytes of the body, or of its chunk, that are still to come */
    uint64_t length;
    uint8_t line[LONGEST_LINE + 1];
};

API void response_begin(struct response *response, int no_body);

/* Takes bytes and writes those of the body to `body`, which has room for `count` more; `*body_bytes` grows by as many.
   Returns how many bytes belonged to this response: fewer than `count` when it ended or went wrong before. */
API size_t response_feed(
    struct response *response, const uint8_t *bytes, size_t count, uint8_t *body, size_t *body_bytes);

/* The connection ended: that ends a body that has no other end. */
API void response_closed(struct response *response);

/* Bytes of a struct response, for callers outside of C. */
API size_t response_size(void);
