/* A server that answers by a script: the null server that shows what the client can do at most, and the truth server
   that logs when it sent what. One thread, one epoll. It reads requests only as far as needed to tell where they end. */
#pragma once

#include <stdint.h>

#include "level.h"

struct serve_piece {
    const uint8_t *bytes;
    int64_t count;
    int64_t delay_ns; /* after the piece before it was sent, or after the request was read */
};

enum { REPLY_KEEP, REPLY_CLOSE, REPLY_RESET };

struct serve_reply {
    const char *path;  /* a part of the request's path */
    int64_t streamed;  /* 1: only to requests that ask for a stream, 0: only to others, -1: to both */
    const struct serve_piece *pieces;
    int64_t count;
    int64_t ending;
};

struct serve_sent {
    int64_t request; /* N of `request=N` in the path, or the number of the request in the order of arrival */
    int64_t piece;   /* -1: the request was read whole */
    int64_t ns;      /* CLOCK_MONOTONIC before it was given to the kernel */
};

struct serve_settings {
    int64_t listener;
    const struct serve_reply *replies;
    int64_t reply_count;
    int64_t in_turn; /* request N gets reply N modulo their count; otherwise the first one that fits */
    struct serve_sent *log;
    int64_t log_room;
    int64_t *logged;
    int64_t *stop;
};

/* Serves until `*stop`. 0, or the errno that ended it. */
API int http_serve(const struct serve_settings *settings);
