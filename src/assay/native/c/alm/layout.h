/* Keys of an object, guessed from the object before it: lines of a manifest repeat the same keys in the same order,
   so that most keys cost one comparison. A layout holds the keys of the object at hand up to the current one, then
   what came next last time; a wrong guess cuts it there. Keys before the current one are known to differ. */
#pragma once
#include "parameters.h"
#include "scan.h"

enum {
    OTHER,
    START, END, SPEAKER, METRICS, WORDS, TEXT_KEY,      /* of a segment */
    BANDWIDTH,                                          /* of its metrics */
    WORD,                                               /* of a word, with END */
    PATH, RATE, SWIFT, SEGMENTS, COMPUTED               /* of an entry; computed names are the strict parser's */
};

typedef struct { uint8_t bytes[80], size, id, dropped; } Key; /* `"start": `, quotes and colon included */
typedef struct { Key keys[MOST_KEYS]; int count; } Layout;
typedef struct { const char *name; uint8_t id; } Name;

static int dropped(const Drop *drop, At name, size_t size) {
    for (const char *p = drop->names; p < drop->names + drop->size; p += strlen(p) + 1)
        if (strlen(p) == size && !memcmp(p, name, size)) return 1;
    return 0;
}

static At new_key(const Limit *limit, Layout *layout, int index, At p, const Name *names, const Drop *drop) {
    if (index >= MOST_KEYS || *p != '"') return 0;
    At end = string_end(limit, p + 1);
    if (!end || end[1] != ':' || end[2] != ' ') return 0;
    size_t size = end + 3 - p, name_size = end - p - 1;
    if (size > 64) return 0;
    for (int i = 0; i < index; i++)
        if (layout->keys[i].size == size && !memcmp(layout->keys[i].bytes, p, size)) return 0;
    Key *key = &layout->keys[index];
    memcpy(key->bytes, p, size);
    key->size = (uint8_t)size;
    key->id = OTHER;
    for (const Name *name = names; name->name; name++)
        if (strlen(name->name) == name_size && !memcmp(name->name, p + 1, name_size)) key->id = name->id;
    key->dropped = drop ? dropped(drop, p + 1, name_size) : 0;
    layout->count = index + 1;
    return p + size;
}

static inline int guessed(const Limit *limit, const Key *key, At p) {
    if (key->size <= 16 && p <= limit->safe) return same_start(p, key->bytes, key->size);
    return !strncmp((const char *)p, (const char *)key->bytes, key->size);
}

/* After the key at `p` and its colon; `*key` says what it is. */
static inline At key_end(const Limit *limit, Layout *layout, int index, At p, const Name *names, const Drop *drop,
                         const Key **key) {
    *key = &layout->keys[index];
    if (index < layout->count && guessed(limit, *key, p)) return p + (*key)->size;
    return new_key(limit, layout, index, p, names, drop);
}
