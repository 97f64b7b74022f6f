/* Growable arrays. Out of memory ends the call that is under way (alm_* returns -1), never the process. */
#pragma once
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local jmp_buf *out_of_memory;

static void *grown(void *array, size_t *capacity, size_t need, size_t item) {
    size_t next = *capacity ? *capacity : 64;
    if (need > SIZE_MAX / 2 / item) longjmp(*out_of_memory, 1);
    while (next < need) next *= 2;
    void *bigger = realloc(array, next * item);
    if (!bigger) longjmp(*out_of_memory, 1);
    *capacity = next;
    return bigger;
}

/* At the top of every function that the caller calls and that may need memory. */
#define GUARDED(failed)    \
    jmp_buf back;          \
    out_of_memory = &back; \
    if (setjmp(back)) return failed

#define ARRAY(type) struct { type *at; size_t count, capacity; }
#define RESERVE(array, more)                                                                             \
    do {                                                                                                 \
        if ((array).count + (more) > (array).capacity)                                                   \
            (array).at = grown((array).at, &(array).capacity, (array).count + (more), sizeof *(array).at); \
    } while (0)
#define PUSH(array) (*({ RESERVE(array, 1); &(array).at[(array).count++]; }))

typedef ARRAY(uint8_t) Text;

static inline void text_add(Text *text, const void *bytes, size_t size) {
    if (!size) return;
    RESERVE(*text, size);
    memcpy(text->at + text->count, bytes, size);
    text->count += size;
}
#define TEXT(text, literal) text_add(text, literal, sizeof(literal) - 1)
