#include "http/response.h"

#include <string.h>

#define SPAN(text) text, sizeof(text) - 1

struct span {
    const uint8_t *at;
    size_t bytes;
};

static uint8_t lower(uint8_t byte) { return byte >= 'A' && byte <= 'Z' ? byte + 32 : byte; }

static int same(struct span span, const char *word, size_t bytes) {
    if (span.bytes != bytes) return 0;
    for (size_t i = 0; i < bytes; i++)
        if (lower(span.at[i]) != (uint8_t)word[i]) return 0;
    return 1;
}

static int begins(struct span span, const char *word, size_t bytes) {
    return span.bytes >= bytes && same((struct span){span.at, bytes}, word, bytes);
}

static int blank(uint8_t byte) { return byte == ' ' || byte == '\t'; }

static struct span strip(struct span span) {
    while (span.bytes && blank(span.at[0])) span.at++, span.bytes--;
    while (span.bytes && blank(span.at[span.bytes - 1])) span.bytes--;
    return span;
}

/* Is `word` one of the words between commas? */
static int lists(struct span span, const char *word, size_t bytes) {
    while (span.bytes) {
        const uint8_t *comma = memchr(span.at, ',', span.bytes);
        size_t upto = comma ? (size_t)(comma - span.at) : span.bytes;
        if (same(strip((struct span){span.at, upto}), word, bytes)) return 1;
        upto += comma != NULL;
        span.at += upto, span.bytes -= upto;
    }
    return 0;
}

void response_begin(struct response *response, int no_body) {
    memset(response, 0, offsetof(struct response, line));
    response->no_body = no_body != 0;
    response->keep_alive = 1;
}

static int digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

static int take_status(struct response *response, struct span line) {
    if (line.bytes < 12 || memcmp(line.at, "HTTP/1.", 7) || line.at[7] < '0' || line.at[7] > '1' || line.at[8] != ' ')
        return 0;
    if (!digit(line.at[9]) || !digit(line.at[10]) || !digit(line.at[11])) return 0;
    if (line.bytes > 12 && line.at[12] != ' ') return 0;
    response->status = (line.at[9] - '0') * 100 + (line.at[10] - '0') * 10 + (line.at[11] - '0');
    response->keep_alive = line.at[7] == '1';
    response->state = RESPONSE_HEADERS;
    return response->status >= 100 && response->status < 600 && response->status != 101;
}

static int take_length(struct response *response, struct span value) {
    uint64_t length = 0;
    if (!value.bytes || value.bytes > 18) return 0;
    for (size_t i = 0; i < value.bytes; i++) {
        if (!digit(value.at[i])) return 0;
        length = length * 10 + (value.at[i] - '0');
    }
    if (response->has_length && response->length != length) return 0;
    response->has_length = 1;
    response->length = length;
    return 1;
}

static int take_header(struct response *response, struct span line) {
    const uint8_t *colon = memchr(line.at, ':', line.bytes);
    if (!colon || colon == line.at) return 0;
    struct span name = {line.at, (size_t)(colon - line.at)};
    for (size_t i = 0; i < name.bytes; i++)
        if (blank(name.at[i])) return 0;
    struct span value = strip((struct span){colon + 1, line.bytes - name.bytes - 1});
    if (same(name, SPAN("content-length"))) return take_length(response, value);
    if (same(name, SPAN("transfer-encoding"))) {
        int chunked = same(value, SPAN("chunked"));
        if (!chunked && (response->chunked || !same(value, SPAN("identity")))) return 0;
        response->chunked = chunked;
    } else if (same(name, SPAN("connection"))) {
        if (lists(value, SPAN("close"))) response->keep_alive = 0;
        else if (lists(value, SPAN("keep-alive"))) response->keep_alive = 1;
    } else if (same(name, SPAN("content-type"))) {
        response->event_stream = begins(value, SPAN("text/event-stream"));
    }
    return 1;
}

static int end_head(struct response *response) {
    response->head_bytes = 0;
    if (response->status < 200) {
        response_begin(response, response->no_body);
    } else if (response->no_body || response->status == 204 || response->status == 304) {
        response->state = RESPONSE_DONE;
    } else if (response->chunked) {
        response->state = RESPONSE_CHUNK_SIZE;
    } else if (response->has_length) {
        response->left = response->length;
        response->state = response->length ? RESPONSE_LENGTH_BODY : RESPONSE_DONE;
    } else {
        response->keep_alive = 0;
        response->state = RESPONSE_UNTIL_CLOSE;
    }
    return 1;
}

static int hexadecimal(uint8_t byte) {
    if (digit(byte)) return byte - '0';
    byte = lower(byte);
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static int take_chunk_size(struct response *response, struct span line) {
    const uint8_t *extension = memchr(line.at, ';', line.bytes);
    size_t bytes = extension ? (size_t)(extension - line.at) : line.bytes;
    while (bytes && blank(line.at[bytes - 1])) bytes--;
    if (!bytes || bytes > 15) return 0;
    uint64_t size = 0;
    for (size_t i = 0; i < bytes; i++) {
        int value = hexadecimal(line.at[i]);
        if (value < 0) return 0;
        size = size * 16 + (uint64_t)value;
    }
    response->left = size;
    response->head_bytes = 0;
    response->state = size ? RESPONSE_CHUNK_BODY : RESPONSE_TRAILERS;
    return 1;
}

static int take_line(struct response *response, struct span line) {
    if (memchr(line.at, 0, line.bytes) || memchr(line.at, '\r', line.bytes)) return 0;
    switch (response->state) {
    case RESPONSE_STATUS: return take_status(response, line);
    case RESPONSE_HEADERS: return line.bytes ? take_header(response, line) : end_head(response);
    case RESPONSE_CHUNK_SIZE: return take_chunk_size(response, line);
    case RESPONSE_CHUNK_END: response->state = RESPONSE_CHUNK_SIZE; return line.bytes == 0;
    default:
        if (!line.bytes) response->state = RESPONSE_DONE;
        return 1;
    }
}

/* Takes bytes up to the end of a line, or all of them where it does not end here. A line that lies whole in one receipt
   is read where it lies. */
static size_t feed_line(struct response *response, const uint8_t *bytes, size_t count) {
    size_t seen = count < LONGEST_LINE + 1 ? count : LONGEST_LINE + 1;
    const uint8_t *end = memchr(bytes, '\n', seen);
    size_t taken = end ? (size_t)(end - bytes) + 1 : seen;
    response->head_bytes += (uint32_t)taken;
    if (response->line_bytes + taken > LONGEST_LINE || response->head_bytes > LONGEST_HEAD) {
        response->state = RESPONSE_MALFORMED;
        return taken;
    }
    struct span line = {bytes, taken};
    if (response->line_bytes || !end) {
        memcpy(response->line + response->line_bytes, bytes, taken);
        response->line_bytes += (uint32_t)taken;
        line = (struct span){response->line, response->line_bytes};
    }
    if (!end) return taken;
    response->line_bytes = 0;
    line.bytes -= line.bytes > 1 && line.at[line.bytes - 2] == '\r' ? 2 : 1;
    if (!take_line(response, line)) response->state = RESPONSE_MALFORMED;
    return taken;
}

size_t response_feed(struct response *response, const uint8_t *bytes, size_t count, uint8_t *body, size_t *body_bytes) {
    size_t at = 0;
    while (at < count && response->state < RESPONSE_DONE) {
        size_t taken = count - at;
        switch (response->state) {
        case RESPONSE_LENGTH_BODY:
        case RESPONSE_CHUNK_BODY:
            if (taken > response->left) taken = (size_t)response->left;
            response->left -= taken;
            if (!response->left)
                response->state = response->state == RESPONSE_LENGTH_BODY ? RESPONSE_DONE : RESPONSE_CHUNK_END;
            /* fall through */
        case RESPONSE_UNTIL_CLOSE:
            memcpy(body + *body_bytes, bytes + at, taken);
            *body_bytes += taken;
            at += taken;
            break;
        default: at += feed_line(response, bytes + at, taken);
        }
    }
    return at;
}

void response_closed(struct response *response) {
    if (response->state == RESPONSE_UNTIL_CLOSE) response->state = RESPONSE_DONE;
}

size_t response_size(void) { return sizeof(struct response); }
