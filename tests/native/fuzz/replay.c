/* Gives the files named on the command line to a fuzz target, one after the other: what libFuzzer's own main does when
   it is given files, for compilers that have no libFuzzer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int count, char **names) {
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(names[i], "rb");
        if (!file) return fprintf(stderr, "%s cannot be read\n", names[i]), 2;
        fseek(file, 0, SEEK_END);
        size_t size = (size_t)ftell(file);
        rewind(file);
        /* As many bytes as there are and none more, so that reading beyond them is noticed. */
        uint8_t *data = malloc(size ? size : 1);
        if (fread(data, 1, size, file) != size) return 2;
        fclose(file);
        fprintf(stderr, "%s\n", names[i]);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return 0;
}
