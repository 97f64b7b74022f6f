/* One pass over a line by recursive descent without the recursion: the brackets that are open are bits of a word. The
   grammar is RFC 8259. Strings are most of the bytes; they are passed over by the loops in skip.h, the idea of memchr
   (see also Langdale, Lemire, "Parsing gigabytes of JSON per second", 2019, which indexes all structure instead; with
   few, long strings there is little structure to index). */
#include "json/fields.h"

#include <string.h>

#include "json/escapes.h"
#include "json/skip.h"
#include "level.h"

enum { MOST_FIELDS = 16, MOST_DEPTH = 60, MOST_NUMBER = 100, MOST_EXPONENT = 2, MOST_DIGITS = 18 };

struct cursor {
    const uint8_t *at, *end;
    stop_finder stop;
};

struct value {
    const uint8_t *start, *end;
    enum field_kind kind;
};

static void pass_space(struct cursor *in) {
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\r')) in->at++;
}

static int pass(struct cursor *in, uint8_t byte) {
    if (in->at == in->end || *in->at != byte) return 0;
    in->at++;
    return 1;
}

/* From behind the opening quote to behind the closing one. */
static int pass_string(struct cursor *in, struct value *found) {
    found->start = in->at;
    found->kind = FIELD_PLAIN;
    for (;;) {
        in->at = in->stop(in->at, in->end);
        if (in->at == in->end) return 0;
        if (*in->at == '"') {
            found->end = in->at++;
            return 1;
        }
        found->kind = FIELD_ESCAPED;
        while (in->at < in->end && *in->at == '\\') {
            int size = escape_size(in->at, in->end);
            if (!size) return 0;
            in->at += size;
        }
        if (in->at < in->end && *in->at < 0x20) return 0;
    }
}

static const uint8_t *past_digits(const uint8_t *at, const uint8_t *end) {
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at;
}

/* Numbers that could be beyond a double's range are not passed. */
static int pass_number(struct cursor *in, struct value *found) {
    const uint8_t *at = in->at, *end = in->end, *digits;
    found->start = at;
    found->kind = FIELD_INTEGER;
    if (at < end && *at == '-') at++;
    digits = at;
    at = past_digits(at, end);
    if (at == digits || (*digits == '0' && at - digits > 1)) return 0;
    if (at - digits > MOST_DIGITS || (*digits == '0' && digits > found->start)) found->kind = FIELD_OTHER;
    if (at < end && *at == '.') {
        found->kind = FIELD_OTHER;
        digits = ++at;
        at = past_digits(at, end);
        if (at == digits) return 0;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        found->kind = FIELD_OTHER;
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        digits = at;
        at = past_digits(at, end);
        if (at == digits || at - digits > MOST_EXPONENT) return 0;
    }
    if (at - found->start > MOST_NUMBER) return 0;
    found->end = in->at = at;
    return 1;
}

static int pass_word(struct cursor *in, const char *word, struct value *found, enum field_kind kind) {
    size_t size = strlen(word);
    if ((size_t)(in->end - in->at) < size || memcmp(in->at, word, size) != 0) return 0;
    found->start = in->at;
    found->end = in->at += size;
    found->kind = kind;
    return 1;
}

static int pass_scalar(struct cursor *in, struct value *found) {
    if (in->at == in->end) return 0;
    switch (*in->at) {
        case '"': in->at++; return pass_string(in, found);
        case 't': return pass_word(in, "true", found, FIELD_OTHER);
        case 'f': return pass_word(in, "false", found, FIELD_OTHER);
        case 'n': return pass_word(in, "null", found, FIELD_NULL);
        default: return pass_number(in, found);
    }
}

static int pass_key(struct cursor *in) {
    struct value key;
    if (!pass(in, '"') || !pass_string(in, &key)) return 0;
    pass_space(in);
    if (!pass(in, ':')) return 0;
    pass_space(in);
    return 1;
}

/* An array or object with all that is in it. `objects` has a bit for each open bracket, the innermost lowest. */
static int pass_nested(struct cursor *in, struct value *found) {
    uint64_t objects = 0;
    int depth = 0;
    struct value inside;
    found->start = in->at;
    found->kind = FIELD_OTHER;
    for (;;) {
        /* A value begins here. */
        if (in->at == in->end) return 0;
        if (*in->at == '{' || *in->at == '[') {
            uint64_t object = *in->at++ == '{';
            if (++depth > MOST_DEPTH) return 0;
            objects = objects << 1 | object;
            pass_space(in);
            if (!(in->at < in->end && *in->at == (object ? '}' : ']'))) {
                if (object && !pass_key(in)) return 0;
                continue;
            }
        } else {
            if (!pass_scalar(in, &inside)) return 0;
        }
        /* It is behind us: close what closes. */
        for (;;) {
            pass_space(in);
            if (!pass(in, objects & 1 ? '}' : ']')) break;
            objects >>= 1;
            if (--depth == 0) {
                found->end = in->at;
                return 1;
            }
        }
        if (!pass(in, ',')) return 0;
        pass_space(in);
        if (objects & 1 && !pass_key(in)) return 0;
    }
}

static int pass_value(struct cursor *in, struct value *found) {
    if (in->at < in->end && (*in->at == '{' || *in->at == '[')) return pass_nested(in, found);
    return pass_scalar(in, found);
}

struct wanted {
    const uint8_t *const *names;
    const int64_t *sizes;
    int64_t count;
};

static int64_t name_of(const struct value *key, const struct wanted *wanted) {
    int64_t size = key->end - key->start;
    for (int64_t f = 0; f < wanted->count; f++)
        if (wanted->sizes[f] == size && memcmp(wanted->names[f], key->start, (size_t)size) == 0) return f;
    return -1;
}

/* Of fields with the same name the last one counts, as in every parser that makes a mapping. A name with escapes could
   be any of those wanted: not sure. */
static int pass_line(struct cursor *in, const struct wanted *wanted, struct value *found) {
    pass_space(in);
    if (!pass(in, '{')) return 0;
    pass_space(in);
    if (!pass(in, '}')) {
        do {
            struct value key, value;
            pass_space(in);
            if (!pass(in, '"') || !pass_string(in, &key) || key.kind == FIELD_ESCAPED) return 0;
            pass_space(in);
            if (!pass(in, ':')) return 0;
            pass_space(in);
            if (!pass_value(in, &value)) return 0;
            int64_t f = name_of(&key, wanted);
            if (f >= 0) found[f] = value;
            pass_space(in);
        } while (pass(in, ','));
        if (!pass(in, '}')) return 0;
    }
    pass_space(in);
    return in->at == in->end;
}

API int64_t assay_json_fields(const uint8_t *data, size_t size, const int64_t *lines, int64_t rows,
                              const uint8_t *const *names, const int64_t *name_sizes, int64_t count, int64_t *values,
                              uint8_t *kinds) {
    struct skip skip = assay_skip();
    struct wanted wanted = {names, name_sizes, count};
    int64_t unsure = 0;
    if (count < 1 || count > MOST_FIELDS) return -1;
    for (int64_t i = 0; i < rows; i++) {
        int64_t start = lines[2 * i], end = lines[2 * i + 1];
        if (start < 0 || end < start || (uint64_t)end > size) return -1;
        struct value found[MOST_FIELDS];
        for (int64_t f = 0; f < count; f++) found[f] = (struct value){data, data, FIELD_MISSING};
        struct cursor in = {data + start, data + end, skip.stop};
        int sure = pass_line(&in, &wanted, found) && skip.utf8(data + start, data + end);
        unsure += !sure;
        for (int64_t f = 0; f < count; f++) {
            int64_t at = i * count + f;
            values[2 * at] = sure ? found[f].start - data : 0;
            values[2 * at + 1] = sure ? found[f].end - data : 0;
            kinds[at] = sure ? (uint8_t)found[f].kind : FIELD_UNSURE;
        }
    }
    return unsure;
}
