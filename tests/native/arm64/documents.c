/* Reads JSON lines with the library it is linked to and prints what text curation gets of them: where the fields stand,
   their texts, digests under a known key and which of these repeat, signatures and the keys of their bands. */
#include <stdio.h>
#include <stdlib.h>

#include "json/fields.h"
#include "keys/digest.h"
#include "whole_file.h"

enum { FIELDS = 2, BINS = 256, BANDS = 32 };
int assay_limit_level(int most);
void assay_minhash_turns(uint16_t *turns);
int64_t assay_minhash_sign(const uint8_t *data, const int64_t *starts, const int64_t *ends, const uint8_t *escaped,
                           int64_t documents, const uint16_t *turns, uint32_t *rows);
void assay_minhash_band_keys(const uint32_t *rows, int64_t documents, int64_t bands, uint64_t *keys);

static void *room(int64_t count, size_t size) {
    void *made = calloc((size_t)count + 1, size);
    if (!made) exit(1);
    return made;
}

int main(int words, char **word) {
    size_t size;
    uint8_t *data = words == 3 ? whole_file(word[2], &size) : 0;
    if (!data) return fprintf(stderr, "usage: %s LEVEL DOCUMENTS\n", word[0]), 2;
    assay_limit_level(atoi(word[1]));
    const uint8_t *const names[FIELDS] = {(const uint8_t *)"id", (const uint8_t *)"text"};
    const int64_t name_sizes[FIELDS] = {2, 4};
    int64_t most = assay_json_count(data, size), seen;
    int64_t *lines = room(2 * most, sizeof *lines), *numbers = room(most, sizeof *numbers);
    int64_t rows = assay_json_lines(data, size, most, lines, numbers, &seen);
    int64_t *values = room(2 * FIELDS * rows, sizeof *values);
    uint8_t *kinds = room(FIELDS * rows, 1);
    int64_t unsure = assay_json_fields(data, size, lines, rows, names, name_sizes, FIELDS, values, kinds);
    if (rows < 0 || unsure < 0) return 1;
    /* The texts alone, as one column. */
    int64_t *texts = room(2 * rows, sizeof *texts), *offsets = room(rows + 1, sizeof *offsets), *ends;
    int64_t *starts = room(rows, sizeof *starts), documents = 0;
    uint8_t *text_kinds = room(rows, 1), *escaped = room(rows, 1), key[DIGEST_KEY];
    for (int64_t i = 0; i < rows; i++) {
        texts[2 * i] = values[2 * (FIELDS * i + 1)], texts[2 * i + 1] = values[2 * (FIELDS * i + 1) + 1];
        text_kinds[i] = kinds[FIELDS * i + 1];
        printf("%d %d %lld %lld\n", kinds[FIELDS * i], text_kinds[i], (long long)texts[2 * i], (long long)texts[2 * i + 1]);
    }
    int64_t space = assay_json_room(texts, rows);
    uint8_t *content = room(space, 1), *scratch = room(assay_json_longest(texts, rows), 1);
    int64_t written = assay_json_texts(data, size, texts, text_kinds, rows, content, space, offsets);
    if (written < 0) return 1;
    fwrite(content, 1, (size_t)written, stdout);
    for (int i = 0; i < DIGEST_KEY; i++) key[i] = (uint8_t)(i * 167 + 13);
    struct digest *digests = room(rows, sizeof *digests);
    int64_t others = assay_digests(data, size, texts, text_kinds, rows, key, scratch, assay_json_longest(texts, rows), digests);
    int64_t slots = 16, *table, *pairs = room(2 * rows, sizeof *pairs);
    while (slots <= 2 * rows) slots *= 2;
    table = room(slots, sizeof *table);
    int64_t repeats = assay_repeats(digests, numbers, rows, table, slots, pairs);
    if (others < 0 || repeats < 0) return 1;
    fwrite(digests, sizeof *digests, (size_t)rows, stdout);
    fwrite(pairs, 2 * sizeof *pairs, (size_t)repeats, stdout);
    ends = room(rows, sizeof *ends);
    for (int64_t i = 0; i < rows; i++)
        if (text_kinds[i] == FIELD_PLAIN || text_kinds[i] == FIELD_ESCAPED) {
            starts[documents] = texts[2 * i], ends[documents] = texts[2 * i + 1];
            escaped[documents++] = text_kinds[i] == FIELD_ESCAPED;
        }
    uint16_t *turns = room(BINS * BINS, sizeof *turns);
    uint32_t *signatures = room(BINS * documents, sizeof *signatures);
    uint64_t *keys = room(BANDS * documents, sizeof *keys);
    assay_minhash_turns(turns);
    if (assay_minhash_sign(data, starts, ends, escaped, documents, turns, signatures) != documents) return 1;
    assay_minhash_band_keys(signatures, documents, BANDS, keys);
    fwrite(signatures, BINS * sizeof *signatures, (size_t)documents, stdout);
    fwrite(keys, BANDS * sizeof *keys, (size_t)documents, stdout);
    printf("\n%lld rows, %lld unsure, %lld of another kind, %lld repeats, %lld signatures\n", (long long)rows,
           (long long)unsure, (long long)others, (long long)repeats, (long long)documents);
    return 0;
}
