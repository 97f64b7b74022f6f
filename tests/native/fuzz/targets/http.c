/* Answers of an HTTP/1.1 server: taken at once, byte by byte, and cut as the first byte says, they must be the same.
   Bit 0 of the first byte: the answer to a HEAD request; the others: bytes of a receipt. What follows the end of an
   answer is the next answer. */
#include "../check.h"
#include "http/response.h"

typedef struct { struct response response; size_t taken, body_bytes; uint8_t *body; } Answer;

static Answer answered(const uint8_t *data, size_t size, size_t receipt, int no_body) {
    Answer answer = {.body = malloc(size ? size : 1)};
    response_begin(&answer.response, no_body);
    while (answer.taken < size) {
        size_t count = size - answer.taken < receipt ? size - answer.taken : receipt, before = answer.body_bytes;
        uint8_t *bytes = copied_with(data + answer.taken, count, 0); /* what is read beyond a receipt is noticed */
        size_t taken = response_feed(&answer.response, bytes, count, answer.body, &answer.body_bytes);
        free(bytes);
        HOLDS(taken <= count && answer.body_bytes - before <= taken);
        answer.taken += taken;
        HOLDS(taken == count || answer.response.state >= RESPONSE_DONE);
        if (answer.response.state >= RESPONSE_DONE) break;
    }
    response_closed(&answer.response);
    HOLDS(answer.response.state <= RESPONSE_MALFORMED);
    return answer;
}

static void same(const Answer *a, const Answer *b) {
    HOLDS(a->response.state == b->response.state);
    /* Of a wrong answer nothing counts but that it is wrong: how far it was read depends on how it came. */
    if (a->response.state != RESPONSE_MALFORMED) HOLDS(a->taken == b->taken);
    HOLDS(a->body_bytes == b->body_bytes && !memcmp(a->body, b->body, a->body_bytes));
    HOLDS(a->response.status == b->response.status && a->response.keep_alive == b->response.keep_alive);
    HOLDS(a->response.event_stream == b->response.event_stream && a->response.chunked == b->response.chunked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    int no_body = data[0] & 1;
    size_t receipts[] = {1, (data[0] >> 1) + 2};
    for (data++, size--; size;) {
        Answer whole = answered(data, size, size, no_body);
        for (int i = 0; i < 2; i++) {
            Answer cut = answered(data, size, receipts[i], no_body);
            same(&whole, &cut);
            free(cut.body);
        }
        free(whole.body);
        if (whole.response.state != RESPONSE_DONE || !whole.taken) break;
        data += whole.taken, size -= whole.taken;
    }
    return 0;
}
