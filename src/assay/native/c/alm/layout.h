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

/* `"start": ` as it stands in the line and, `written` long, as it is written: with a space, which may not be there. */
typedef struct { uint8_t bytes[80], size, written, id, dropped; } Key;
typedef struct { Key keys[MOST_KEYS]; int count; } Layout;
typedef struct { const char *name; uint8_t id; } Name;

static int dropped(const Drop *drop, At name, size_t size) {
    for (const char *p = drop->names; p < drop->names + drop->size; p += strlen(p) + 1)
        if (strlen(p) == size && !memcmp(p, name, size)) return 1;
    return 0;
}

static At new_key(Scan *scan, Layout *layout, int index, At p, const Name *names, const Drop *drop) {
    if (index >= MOST_KEYS || *p != '"') return 0;
    uint32_t odd = scan->odd;
    At end = string_end(scan, p + 1), value = end && scan->odd == odd ? separator_end(scan, end + 1, ':') : 0;
    if (!value) return 0;
    size_t name_size = end - p - 1, written = name_size + 4;
    if (written > 64) return 0;
    for (int i = 0; i < index; i++)
        if (layout->keys[i].written == written && !memcmp(layout->keys[i].bytes, p, written - 1)) return 0;
    Key *key = &layout->keys[index];
    memcpy(key->bytes, p, written - 1);
    key->bytes[written - 1] = ' ';
    key->size = (uint8_t)(value - p);
    key->written = (uint8_t)written;
    key->id = OTHER;
    for (const Name *name = names; name->name; name++)
        if (strlen(name->name) == name_size && !memcmp(name->name, p + 1, name_size)) key->id = name->id;
    key->dropped = drop ? dropped(drop, p + 1, name_size) : 0;
    layout->count = index + 1;
    return value;
}

static inline int guessed(Scan *scan, const Key *key, At p) {
    if (key->size <= 16 && p <= scan->safe) return same_start(p, key->bytes, key->size);
    return !strncmp((const char *)p, (const char *)key->bytes, key->size);
}

/* After the key at `p` and its colon; `*key` says what it is. */
static inline At key_end(Scan *scan, Layout *layout, int index, At p, const Name *names, const Drop *drop,
                         const Key **key) {
    *key = &layout->keys[index];
    /* A space here means that the key had none when it was learnt. */
    if (index < layout->count && guessed(scan, *key, p) && p[(*key)->size] != ' ') {
        scan->odd += (*key)->size != (*key)->written;
        return p + (*key)->size;
    }
    return new_key(scan, layout, index, p, names, drop);
}
