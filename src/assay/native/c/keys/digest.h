/* 128-bit digests of texts under a key that nobody who wrote the texts can know.

   A text is cut into words of 7 bytes, the coefficients of a polynomial; the digest is its value at a secret point of
   the field of 2^127 - 1 elements (Wegman, Carter, "New hash functions and their use in authentication and set
   equality", 1981; Bernstein's Poly1305, 2005, is of the same kind). Two texts of at most n bytes that are not the same
   are different polynomials, which agree at no more than n/7 + 2 points: whoever chose them, their digests are the same
   for at most that many of the 2^127 keys, 2^-118 of them for texts of 3 kB. A key is drawn for each run and kept by no
   one, so no collision can be prepared. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { DIGEST_WORDS = 16, DIGEST_GROUP = 7 * DIGEST_WORDS };

/* Powers of the secret point: what a digest needs, made once for many texts. */
struct digest_key {
    uint64_t low[DIGEST_WORDS + 1], high[DIGEST_WORDS + 1];
};

struct digest {
    uint64_t low, high;
};

void digest_prepare(const uint8_t key[16], struct digest_key *made);
struct digest digest_of(const struct digest_key *key, const uint8_t *text, size_t size);

/* Digests of `rows` values, as assay_json_fields found them: of the text of strings, of the digits of integers, of no
   text at all where there is null. `scratch` has room for the longest of them. Returns how many rows are of another
   kind (their digests are 0), or -1 if a value does not lie in the data, or in the room. */
int64_t assay_digests(const uint8_t *data, size_t size, const int64_t *values, const uint8_t *kinds, int64_t rows,
                      const uint8_t key[16], uint8_t *scratch, int64_t room, struct digest *to);

/* The digests of `rows` documents, the first of which is number `first`, that belong to range `range` of `ranges`, and
   the numbers of these documents. Ranges are about equal, since digests are spread evenly. Returns how many. */
int64_t assay_digests_in_range(const struct digest *digests, int64_t rows, int64_t first, int64_t range,
                               int64_t ranges, struct digest *to, int64_t *numbers);

/* Documents whose digest another had before: pairs[2i] is the number of the first that had it, pairs[2i+1] of the one
   that repeats it, in the order of the documents. `slots`, all zero, are a power of two and more than the rows. Returns
   how many pairs, or -1 if the slots are too few. */
int64_t assay_repeats(const struct digest *digests, const int64_t *numbers, int64_t rows, int64_t *slots, int64_t count,
                      int64_t *pairs);
