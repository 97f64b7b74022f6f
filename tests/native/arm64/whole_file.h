#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* A file's bytes with a zero behind them, or 0 if it cannot be read. */
static uint8_t *whole_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) return 0;
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = calloc(*size + 1, 1);
    if (data && fread(data, 1, *size, file) != *size) data = 0;
    fclose(file);
    return data;
}
