#include "keys/nh.h"

struct nh_sums nh_scalar(const uint64_t *words, const uint8_t *at, size_t size) { return nh_of(words, at, size); }
