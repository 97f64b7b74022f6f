/* Bodies made small for the disk, in the LZ4 block format (its description: lz4_Block_format.md of the LZ4 project).
   Events of a stream repeat each other but for a few letters, and so do answers: little is left of them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "level.h"

/* Bytes that packing `count` bytes may take at most. */
API size_t pack_room(size_t count);

/* Packs into `to`, which has pack_room(count) bytes; returns how many it took. `count` is below 2 GiB. */
API size_t pack_bytes(const uint8_t *bytes, size_t count, uint8_t *to);

/* Unpacks into exactly `room` bytes. 1, or 0 where the bytes are not what packing made of so many. */
API int unpack_bytes(const uint8_t *bytes, size_t count, uint8_t *to, size_t room);
