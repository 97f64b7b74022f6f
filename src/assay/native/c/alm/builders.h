/* The builder, one for each level of level.h. */
#pragma once
#include "batch.h"
#include "parameters.h"

typedef int64_t Builder(Batch *batch, const uint8_t *data, uint64_t size, const Parameters *parameters);
Builder build_scalar, build_avx2, build_avx512;

struct Workspace *new_workspace(void); /* 0 without memory */
void free_workspace(struct Workspace *workspace);
