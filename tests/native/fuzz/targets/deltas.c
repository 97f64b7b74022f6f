/* Bodies of answers of language-model servers: events and the JSON in them, read after a run. Bit 0 of the first byte:
   an event stream; the others: bytes of a receipt. Byte 255, which no UTF-8 has, begins the next answer. */
#include "../check.h"
#include "http/delta.h"

enum { MOST = 8 };

static void check(const struct reading *reading, int64_t found) {
    HOLDS(found >= 0 && found <= reading->delta_room);
    HOLDS(reading->text_bytes >= 0 && reading->text_bytes <= reading->body_bytes);
    for (int64_t i = 0; i < found; i++) {
        const struct delta *delta = reading->deltas + i;
        HOLDS(delta->request >= 0 && delta->request < reading->row_count && !reading->unsure[delta->request]);
        const struct row *row = reading->rows + delta->request;
        HOLDS(delta->data_bytes >= 0 && delta->data_start >= row->body_start);
        HOLDS(delta->data_start + delta->data_bytes <= row->body_start + row->body_bytes);
        HOLDS(delta->reasoning_bytes >= 0 && delta->text_bytes >= 0 && delta->text_start >= 0);
        HOLDS(delta->text_start + delta->reasoning_bytes + delta->text_bytes <= reading->text_bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    uint8_t stream = data[0] & 1;
    size_t receipt = (data[0] >> 1) + 1;
    data++, size--;
    struct row rows[MOST] = {{0}};
    struct piece *pieces = malloc((size / receipt + MOST + 1) * sizeof *pieces);
    uint8_t *bodies = malloc(size + 1), unsure[MOST] = {0};
    struct token_counts counts[MOST];
    struct reading reading = {.rows = rows, .pieces = pieces, .bodies = bodies, .counts = counts, .unsure = unsure};
    for (size_t at = 0; at <= size && reading.row_count < MOST; at++) {
        const uint8_t *next = at < size ? memchr(data + at, 255, size - at) : 0;
        size_t end = next ? (size_t)(next - data) : size;
        struct row *row = &rows[reading.row_count++];
        *row = (struct row){.piece_start = reading.piece_count, .body_start = reading.body_bytes, .event_stream = stream};
        row->body_bytes = (int64_t)(end - at);
        memcpy(bodies + reading.body_bytes, data + at, end - at);
        for (size_t upto = receipt; row->pieces < (int64_t)((end - at + receipt - 1) / receipt); upto += receipt) {
            int64_t body_end = upto < end - at ? (int64_t)upto : row->body_bytes;
            pieces[reading.piece_count++] = (struct piece){1000 * ++row->pieces, body_end};
        }
        reading.body_bytes += row->body_bytes;
        at = end;
    }
    /* Exactly as large as they must be: what is read or written beyond is noticed. */
    reading.bodies = copied_with(bodies, (size_t)reading.body_bytes, 0);
    reading.texts = malloc(reading.body_bytes ? (size_t)reading.body_bytes : 1);
    reading.delta_room = delta_most(&reading);
    reading.deltas = malloc((size_t)reading.delta_room * sizeof *reading.deltas);
    check(&reading, delta_read_all(&reading));
    free((void *)reading.bodies), free(reading.texts), free(reading.deltas), free(pieces), free(bodies);
    return 0;
}
