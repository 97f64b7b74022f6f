/* 128-bit digests of texts under a key that nobody who wrote the texts can know.

   Blocks of 1024 bytes are compressed to 32 by NH, twice, with keys that are shifted against each other (Black, Halevi,
   Krawczyk, Krovetz, Rogaway, "UMAC: fast and secure message authentication", 1999): two blocks of one length that are
   not the same give the same for at most 2^-128 of the keys. What comes out, and the length, are the coefficients of a
   polynomial; the digest is its value at a secret point of the field of 2^127 - 1 elements (Wegman, Carter, "New hash
   functions and their use in authentication and set equality", 1981). Polynomials that differ agree at no more points
   than their degree. Together: two texts of at most n bytes that are not the same have the same digest for at most
   (n/256 + 5)/2^127 + 2^-128 of the keys, whoever chose them; 2^-122 for texts of 3 kB. A key is drawn for each run and
   kept by no one, so no collision can be prepared. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "keys/nh.h"

enum { DIGEST_BLOCK = 1024, DIGEST_WORDS = DIGEST_BLOCK / 8 + 2, DIGEST_KEY = 16 + 8 * DIGEST_WORDS };

struct digest_key {
    uint64_t low, high; /* the secret point */
    uint64_t words[DIGEST_WORDS];
    nh_function nh;
};

struct digest {
    uint64_t low, high;
};

void digest_prepare(const uint8_t key[DIGEST_KEY], struct digest_key *made);
struct digest digest_of(const struct digest_key *key, const uint8_t *text, size_t size);

/* Digests of `rows` values, as assay_json_fields found them: of the text of strings, of the digits of integers, of no
   text at all where there is null. `scratch` has room for the longest of them. Returns how many rows are of another
   kind (their digests are 0), or -1 if a value does not lie in the data, or in the room. */
int64_t assay_digests(const uint8_t *data, size_t size, const int64_t *values, const uint8_t *kinds, int64_t rows,
                      const uint8_t key[DIGEST_KEY], uint8_t *scratch, int64_t room, struct digest *to);

/* The digests of `rows` documents, the first of which is number `first`, that belong to range `range` of `ranges`, and
   the numbers of these documents. Ranges are about equal, since digests are spread evenly. Returns how many. */
int64_t assay_digests_in_range(const struct digest *digests, int64_t rows, int64_t first, int64_t range,
                               int64_t ranges, struct digest *to, int64_t *numbers);

/* Documents whose digest another had before: pairs[2i] is the number of the first that had it, pairs[2i+1] of the one
   that repeats it, in the order of the documents. `slots`, all zero, are a power of two and more than the rows. Returns
   how many pairs, or -1 if the slots are too few. */
int64_t assay_repeats(const struct digest *digests, const int64_t *numbers, int64_t rows, int64_t *slots, int64_t count,
                      int64_t *pairs);
