/* Server-sent events of all answers (WHATWG HTML, "Server-sent events"), each with the time its last byte arrived. */
#include <string.h>

#include "http/delta.h"

/* One event: where its data lies in the body, and where the event ends. */
struct event {
    size_t start, stop, end;
    int has_data;
    int joined; /* several lines of data */
};

/* The next event with data from `*at` on; 0: there is none. `*odd` is set where a line ends with a lone CR. */
static int next_event(const uint8_t *body, size_t bytes, size_t *at, struct event *event, int *odd) {
    *event = (struct event){0};
    while (*at < bytes) {
        const uint8_t *line = body + *at, *newline = memchr(line, '\n', bytes - *at);
        size_t length = newline ? (size_t)(newline - line) : bytes - *at;
        *at += length + (newline != NULL);
        if (length && line[length - 1] == '\r') {
            if (!newline) *odd = 1;
            length--;
        }
        if (length && memchr(line, '\r', length)) *odd = 1;
        if (!length) {
            event->end = *at;
            if (event->has_data) return 1;
        } else if (length >= 4 && !memcmp(line, "data", 4) && (length == 4 || line[4] == ':')) {
            size_t value = length == 4 ? 4 : 5;
            if (value < length && line[value] == ' ') value++;
            if (event->has_data) event->joined = 1;
            else event->start = (size_t)(line - body) + value;
            event->stop = (size_t)(line - body) + length;
            event->has_data = 1;
        }
    }
    event->end = bytes;
    return event->has_data;
}

static int put_delta(struct reading *reading, int64_t count, int64_t request, const struct event *event,
                     int64_t *piece) {
    const struct row *row = reading->rows + request;
    const struct piece *pieces = reading->pieces + row->piece_start;
    while (*piece + 1 < row->pieces && pieces[*piece].body_end < (int64_t)event->end) ++*piece;
    struct delta *delta = reading->deltas + count;
    delta->ns = row->pieces ? pieces[*piece].ns : row->end_ns;
    delta->data_start = row->body_start + (int64_t)event->start;
    delta->data_bytes = (int32_t)(event->stop - event->start);
    delta->request = (int32_t)request;
    delta->text_start = reading->text_bytes;
    delta_read(reading->bodies + delta->data_start, (size_t)delta->data_bytes, delta, reading->counts + request,
               reading->texts + reading->text_bytes);
    reading->text_bytes += delta->reasoning_bytes + delta->text_bytes;
    return !(delta->kind & KIND_UNSURE) && !event->joined;
}

static int lies_inside(const struct reading *reading, const struct row *row) {
    return row->body_start >= 0 && row->body_bytes >= 0 && row->body_bytes <= INT32_MAX && row->piece_start >= 0
           && row->pieces >= 0 && row->body_start <= reading->body_bytes - row->body_bytes
           && row->piece_start <= reading->piece_count - row->pieces;
}

int64_t delta_read_all(struct reading *reading) {
    int64_t count = 0;
    reading->text_bytes = 0;
    for (int64_t request = 0; request < reading->row_count; request++) {
        const struct row *row = reading->rows + request;
        int64_t piece = 0, first = count, first_text = reading->text_bytes;
        reading->counts[request] = (struct token_counts){-1, -1, -1, -1};
        if (!row->body_bytes) continue;
        if (!lies_inside(reading, row)) {
            reading->unsure[request] = 1;
            continue;
        }
        const uint8_t *body = reading->bodies + row->body_start;
        struct event event = {.stop = (size_t)row->body_bytes, .end = (size_t)row->body_bytes};
        int odd = 0, sure = 1;
        size_t at = row->body_bytes >= 3 && !memcmp(body, "\xef\xbb\xbf", 3) ? 3 : 0;
        if (!row->event_stream) {
            if (count == reading->delta_room) return -1;
            sure = put_delta(reading, count++, request, &event, &piece);
        } else {
            while (sure && !odd && next_event(body, (size_t)row->body_bytes, &at, &event, &odd)) {
                if (count == reading->delta_room) return -1;
                sure = put_delta(reading, count++, request, &event, &piece);
            }
        }
        if (!sure || odd) {
            reading->unsure[request] = 1;
            reading->counts[request] = (struct token_counts){-1, -1, -1, -1};
            reading->text_bytes = first_text;
            count = first;
        }
    }
    return count;
}

int64_t delta_most(const struct reading *reading) {
    int64_t most = reading->row_count;
    const uint8_t *at = reading->bodies, *end = at + reading->body_bytes;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
        most += end - at >= 5 && !memcmp(at + 1, "data", 4);
        at++;
    }
    return most;
}
