/* A strict JSON reader (RFC 8259) that keeps only what it was asked for: where the document speaks of choices, usage or
   an error. It goes through each byte once and never back. */
#include "http/delta.h"

#include <string.h>

enum { DEEPEST = 64, MOST_SPANS = 16 };

/* Where in a document the reader stands: which keys mean something here. */
enum place { OTHER, TOP, CHOICES, CHOICE, MESSAGE, USAGE, INPUT_DETAILS, OUTPUT_DETAILS, RESPONSE, OUTPUT, ITEM, PARTS, PART };

struct span {
    const uint8_t *at;
    size_t bytes;
};

struct reader {
    const uint8_t *at, *end;
    struct delta *delta;
    struct token_counts *counts;
    struct span content[MOST_SPANS], reasoning[MOST_SPANS];
    int contents, reasonings, depth;
    struct span type, top_delta;
    int item_reasons;
};

static int read_value(struct reader *reader, enum place place, struct span key);

static int is(struct span span, const char *word) {
    return span.bytes == strlen(word) && !memcmp(span.at, word, span.bytes);
}

static int begins(struct span span, const char *word) {
    return span.bytes >= strlen(word) && !memcmp(span.at, word, strlen(word));
}

static int ends(struct span span, const char *word) {
    size_t bytes = strlen(word);
    return span.bytes >= bytes && !memcmp(span.at + span.bytes - bytes, word, bytes);
}

static void skip_blanks(struct reader *reader) {
    while (reader->at < reader->end
           && (*reader->at == ' ' || *reader->at == '\n' || *reader->at == '\t' || *reader->at == '\r'))
        reader->at++;
}

/* Bytes of the UTF-8 character that begins here, 0 where it is none (Unicode 15, table 3-7). */
static int character(const uint8_t *at, const uint8_t *end) {
    uint8_t first = at[0];
    int bytes = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (!bytes || end - at < bytes) return 0;
    for (int i = 1; i < bytes; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    if ((first == 0xe0 && at[1] < 0xa0) || (first == 0xed && at[1] > 0x9f)) return 0;
    if ((first == 0xf0 && at[1] < 0x90) || (first == 0xf4 && at[1] > 0x8f)) return 0;
    return bytes;
}

static int hexadecimal(uint8_t byte) {
    if (byte >= '0' && byte <= '9') return byte - '0';
    byte |= 32;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

#define EVERY(byte) (0x0101010101010101u * (byte))

/* Where plain text ends: at a quote, a backslash, a control character or a byte beyond ASCII. Eight bytes at a time; in
   the word a zero byte is found by its borrow, which reaches only bytes after it (Warren, Hacker's Delight, 6-1). */
static const uint8_t *skip_plain(const uint8_t *at, const uint8_t *end) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        uint64_t quote = word ^ EVERY('"'), backslash = word ^ EVERY('\\');
        uint64_t found = (quote - EVERY(1)) & ~quote;
        found |= (backslash - EVERY(1)) & ~backslash;
        found |= (word - EVERY(0x20)) & ~word;
        found = (found | word) & EVERY(0x80);
        if (found) return at + (__builtin_ctzll(found) >> 3);
    }
#endif
    while (at < end && *at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\') at++;
    return at;
}

/* Goes over a string; its bytes between the quotes, escapes as they stand. */
static int read_string(struct reader *reader, struct span *string) {
    const uint8_t *at = reader->at, *end = reader->end;
    if (at == end || *at != '"') return 0;
    string->at = ++at;
    while ((at = skip_plain(at, end)) < end && *at != '"') {
        if (*at >= 0x80) {
            int bytes = character(at, end);
            if (!bytes) return 0;
            at += bytes;
        } else if (*at == '\\') {
            if (end - at < 2) return 0;
            if (at[1] == 'u') {
                if (end - at < 6) return 0;
                for (int i = 2; i < 6; i++)
                    if (hexadecimal(at[i]) < 0) return 0;
                at += 6;
            } else if (at[1] && strchr("\"\\/bfnrt", at[1])) {
                at += 2;
            } else {
                return 0;
            }
        } else {
            return 0; /* a control character */
        }
    }
    if (at == end) return 0;
    string->bytes = (size_t)(at - string->at);
    reader->at = at + 1;
    return 1;
}

static unsigned unit(const uint8_t *at) {
    return (unsigned)hexadecimal(at[0]) << 12 | (unsigned)hexadecimal(at[1]) << 8 | (unsigned)hexadecimal(at[2]) << 4
           | (unsigned)hexadecimal(at[3]);
}

static size_t put_character(uint8_t *to, unsigned code) {
    if (code < 0x80) return to[0] = (uint8_t)code, 1;
    if (code < 0x800) return to[0] = (uint8_t)(0xc0 | code >> 6), to[1] = (uint8_t)(0x80 | (code & 63)), 2;
    if (code < 0x10000) {
        to[0] = (uint8_t)(0xe0 | code >> 12);
        to[1] = (uint8_t)(0x80 | (code >> 6 & 63));
        to[2] = (uint8_t)(0x80 | (code & 63));
        return 3;
    }
    to[0] = (uint8_t)(0xf0 | code >> 18);
    to[1] = (uint8_t)(0x80 | (code >> 12 & 63));
    to[2] = (uint8_t)(0x80 | (code >> 6 & 63));
    to[3] = (uint8_t)(0x80 | (code & 63));
    return 4;
}

/* Text of a string that read_string has gone over. It never grows: \uXXXX is six bytes, a character at most three, a
   pair of them twelve and four. Half of a pair becomes U+FFFD. */
static size_t decode(struct span string, uint8_t *to) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const uint8_t *at = string.at, *end = at + string.bytes;
    uint8_t *out = to;
    while (at < end) {
        const uint8_t *escape = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((escape ? escape : end) - at);
        memcpy(out, at, plain);
        out += plain, at += plain;
        if (!escape) break;
        if (at[1] != 'u') {
            *out++ = (uint8_t)values[strchr(names, at[1]) - names];
            at += 2;
            continue;
        }
        unsigned code = unit(at + 2);
        at += 6;
        if (code >= 0xd800 && code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
            unsigned low = unit(at + 2);
            if (low >= 0xdc00 && low < 0xe000) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                at += 6;
            }
        }
        if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
        out += put_character(out, code);
    }
    return (size_t)(out - to);
}

static int digits(struct reader *reader) {
    const uint8_t *began = reader->at;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9') reader->at++;
    return (int)(reader->at - began);
}

/* Goes over a number. `value` gets it where it is a whole one from 0 on with at most 18 digits, otherwise -1. */
static int read_number(struct reader *reader, int64_t *value) {
    int negative = *reader->at == '-', plain = !negative;
    reader->at += negative;
    const uint8_t *first = reader->at;
    int count = digits(reader);
    if (!count || (count > 1 && *first == '0')) return 0;
    const uint8_t *last = reader->at;
    if (reader->at < reader->end && *reader->at == '.') {
        plain = 0;
        reader->at++;
        if (!digits(reader)) return 0;
    }
    if (reader->at < reader->end && (*reader->at | 32) == 'e') {
        plain = 0;
        reader->at++;
        if (reader->at < reader->end && (*reader->at == '+' || *reader->at == '-')) reader->at++;
        if (!digits(reader)) return 0;
    }
    *value = -1;
    if (plain && count <= 18)
        for (*value = 0; first < last; first++) *value = *value * 10 + (*first - '0');
    return 1;
}

static int read_word(struct reader *reader, const char *word) {
    size_t bytes = strlen(word);
    if ((size_t)(reader->end - reader->at) < bytes || memcmp(reader->at, word, bytes)) return 0;
    reader->at += bytes;
    return 1;
}

static void add_text(struct reader *reader, struct span text, int reasoning) {
    if (!text.bytes) return;
    reader->delta->kind |= reasoning ? KIND_REASONING : KIND_CONTENT;
    int *count = reasoning ? &reader->reasonings : &reader->contents;
    if (*count == MOST_SPANS) reader->delta->kind |= KIND_UNSURE;
    else (reasoning ? reader->reasoning : reader->content)[(*count)++] = text;
}

static void take_string(struct reader *reader, enum place place, struct span key, struct span value) {
    switch (place) {
    case TOP:
        if (is(key, "type")) reader->type = value;
        else if (is(key, "delta")) reader->top_delta = value;
        else if (is(key, "error")) reader->delta->kind |= KIND_ERROR;
        break;
    case CHOICE:
        if (is(key, "text")) add_text(reader, value, 0);
        else if (is(key, "finish_reason")) reader->delta->kind |= KIND_FINISH;
        break;
    case MESSAGE:
        if (is(key, "content")) add_text(reader, value, 0);
        else if (is(key, "role")) reader->delta->kind |= KIND_ROLE;
        else if (is(key, "reasoning_content") || is(key, "reasoning")) add_text(reader, value, 1);
        break;
    case ITEM:
        if (is(key, "type")) {
            /* Text that came before its type was taken for content. */
            if (is(value, "reasoning") && reader->contents) reader->delta->kind |= KIND_UNSURE;
            reader->item_reasons = is(value, "reasoning");
        }
        break;
    case PART:
        if (is(key, "text")) add_text(reader, value, reader->item_reasons);
        break;
    default: break;
    }
}

static void take_number(struct reader *reader, enum place place, struct span key, int64_t value) {
    if (value < 0) return;
    if (place == CHOICE && is(key, "index") && value <= INT32_MAX) reader->delta->choice = (int32_t)value;
    if (place == USAGE && (is(key, "prompt_tokens") || is(key, "input_tokens"))) reader->counts->input = value;
    if (place == USAGE && (is(key, "completion_tokens") || is(key, "output_tokens"))) reader->counts->output = value;
    if (place == INPUT_DETAILS && is(key, "cached_tokens")) reader->counts->cached = value;
    if (place == OUTPUT_DETAILS && is(key, "reasoning_tokens")) reader->counts->reasoning = value;
}

/* The place inside the object or list that stands at `key` of `place`. */
static enum place inside(enum place place, struct span key, int is_object) {
    switch (place) {
    case TOP:
        if (is_object) return is(key, "usage") ? USAGE : is(key, "response") ? RESPONSE : OTHER;
        return is(key, "choices") ? CHOICES : is(key, "output") ? OUTPUT : OTHER;
    case RESPONSE: return is_object && is(key, "usage") ? USAGE : OTHER;
    case CHOICES: return is_object ? CHOICE : OTHER;
    case CHOICE: return is_object && (is(key, "delta") || is(key, "message")) ? MESSAGE : OTHER;
    case USAGE:
        if (!is_object) return OTHER;
        if (is(key, "prompt_tokens_details") || is(key, "input_tokens_details")) return INPUT_DETAILS;
        return is(key, "completion_tokens_details") || is(key, "output_tokens_details") ? OUTPUT_DETAILS : OTHER;
    case OUTPUT: return is_object ? ITEM : OTHER;
    case ITEM: return !is_object && is(key, "content") ? PARTS : OTHER;
    case PARTS: return is_object ? PART : OTHER;
    default: return OTHER;
    }
}

enum { MOST_KEYS = 24 };

/* Was the key there before? Of keys that stand twice the last one counts, which is for Python to sort out; so are more of
   them than are remembered. */
static int stands_twice(struct span *keys, int *count, struct span key) {
    for (int i = 0; i < *count; i++)
        if (keys[i].bytes == key.bytes && !memcmp(keys[i].at, key.at, key.bytes)) return 1;
    if (*count == MOST_KEYS) return 1;
    keys[(*count)++] = key;
    return 0;
}

static int read_object(struct reader *reader, enum place place) {
    struct span keys[MOST_KEYS];
    int count = 0;
    reader->at++;
    if (place == USAGE) reader->delta->kind |= KIND_USAGE;
    if (place == ITEM) reader->item_reasons = 0;
    skip_blanks(reader);
    if (reader->at < reader->end && *reader->at == '}') return reader->at++, 1;
    for (;;) {
        struct span key;
        skip_blanks(reader);
        if (!read_string(reader, &key)) return 0;
        /* A key that is written with escapes: Python says what it means. */
        if (place != OTHER && (memchr(key.at, '\\', key.bytes) || stands_twice(keys, &count, key)))
            reader->delta->kind |= KIND_UNSURE;
        skip_blanks(reader);
        if (reader->at == reader->end || *reader->at++ != ':') return 0;
        if (!read_value(reader, place, key)) return 0;
        skip_blanks(reader);
        if (reader->at == reader->end) return 0;
        uint8_t byte = *reader->at++;
        if (byte == '}') return 1;
        if (byte != ',') return 0;
    }
}

static int read_list(struct reader *reader, enum place place) {
    reader->at++;
    skip_blanks(reader);
    if (reader->at < reader->end && *reader->at == ']') return reader->at++, 1;
    for (;;) {
        if (!read_value(reader, place, (struct span){0})) return 0;
        skip_blanks(reader);
        if (reader->at == reader->end) return 0;
        uint8_t byte = *reader->at++;
        if (byte == ']') return 1;
        if (byte != ',') return 0;
    }
}

static int read_nested(struct reader *reader, enum place place, struct span key, int is_object) {
    if (reader->depth == DEEPEST) {
        reader->delta->kind |= KIND_UNSURE;
        return 0;
    }
    reader->depth++;
    enum place within = inside(place, key, is_object);
    const uint8_t *began = reader->at;
    int good = is_object ? read_object(reader, within) : read_list(reader, within);
    reader->depth--;
    if (place == MESSAGE && !is_object && is(key, "tool_calls") && reader->at - began > 2)
        reader->delta->kind |= KIND_TOOL;
    return good;
}

static int read_value(struct reader *reader, enum place place, struct span key) {
    struct span string;
    int64_t number;
    skip_blanks(reader);
    if (reader->at == reader->end) return 0;
    uint8_t byte = *reader->at;
    if (place == TOP && byte != 'n' && byte != '"' && is(key, "error")) reader->delta->kind |= KIND_ERROR;
    if (byte == '"') {
        if (!read_string(reader, &string)) return 0;
        if (place != OTHER) take_string(reader, place, key, string);
        return 1;
    }
    if (byte == '{' || byte == '[') return read_nested(reader, place, key, byte == '{');
    if (byte == 't') return read_word(reader, "true");
    if (byte == 'f') return read_word(reader, "false");
    if (byte == 'n') return read_word(reader, "null");
    if (byte != '-' && (byte < '0' || byte > '9')) return 0;
    if (!read_number(reader, &number)) return 0;
    if (place != OTHER) take_number(reader, place, key, number);
    return 1;
}

/* Events of the `responses` endpoint say in `type` what their `delta` is. */
static void take_type(struct reader *reader) {
    struct span type = reader->type;
    if (ends(type, "output_text.delta")) add_text(reader, reader->top_delta, 0);
    else if (begins(type, "response.reasoning") && ends(type, ".delta")) add_text(reader, reader->top_delta, 1);
    else if (begins(type, "response.function_call_arguments")) reader->delta->kind |= KIND_TOOL;
    else if (is(type, "response.completed") || is(type, "response.incomplete")) reader->delta->kind |= KIND_DONE;
    else if (is(type, "response.failed") || is(type, "error")) reader->delta->kind |= KIND_ERROR;
}

void delta_read(const uint8_t *bytes, size_t count, struct delta *delta, struct token_counts *counts, uint8_t *text) {
    struct token_counts before = *counts;
    struct reader reader = {.at = bytes, .end = bytes + count, .delta = delta, .counts = counts};
    delta->kind = 0;
    delta->choice = delta->reasoning_bytes = delta->text_bytes = 0;
    skip_blanks(&reader);
    if (reader.end - reader.at >= 6 && !memcmp(reader.at, "[DONE]", 6)) {
        reader.at += 6;
        skip_blanks(&reader);
        if (reader.at == reader.end) {
            delta->kind = KIND_DONE;
            return;
        }
        reader.at = bytes;
    }
    int is_object = reader.at < reader.end && *reader.at == '{';
    int good = is_object ? (reader.depth = 1, read_object(&reader, TOP)) : read_value(&reader, OTHER, (struct span){0});
    skip_blanks(&reader);
    if (!good || reader.at != reader.end) {
        delta->kind = KIND_MALFORMED | (delta->kind & KIND_UNSURE);
        delta->choice = 0;
        *counts = before;
        return;
    }
    if (reader.type.bytes) take_type(&reader);
    for (int i = 0; i < reader.reasonings; i++)
        delta->reasoning_bytes += (int32_t)decode(reader.reasoning[i], text + delta->reasoning_bytes);
    for (int i = 0; i < reader.contents; i++)
        delta->text_bytes += (int32_t)decode(reader.content[i], text + delta->reasoning_bytes + delta->text_bytes);
}
