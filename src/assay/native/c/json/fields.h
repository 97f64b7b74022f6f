/* Named fields of lines of JSON, found without building objects.

   A line is one JSON object. For each line and each name the scanner says where the value stands and of what kind it
   is. It answers only where the answer is what a strict parser (orjson) gives: a line that is not JSON, or holds
   anything that is rare and hard to be right about, is FIELD_UNSURE, for the caller's strict parser to decide. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum field_kind {
    FIELD_MISSING, /* the object has no such field */
    FIELD_PLAIN,   /* a string that stands for itself: its range is the text, in UTF-8, without the quotes */
    FIELD_ESCAPED, /* a string with escapes: its range is as before, assay_json_unescape gives the text */
    FIELD_INTEGER, /* -?digits, at most 18 of them: it fits in 64 bits, and is not -0 */
    FIELD_NULL,
    FIELD_OTHER,  /* another number, true, false, an array, an object: its range is valid JSON */
    FIELD_UNSURE, /* all fields of the line: ask the strict parser */
};

/* Lines of data[0..size) at most: its line feeds, and one for a last line without. */
int64_t assay_json_count(const uint8_t *data, size_t size);

/* Lines of data[0..size) that are not blank (blank: only spaces, tabs, and the control characters \v \f \r).
   Line i stands at [lines[2i], lines[2i+1]), without its '\n', and is line numbers[i] of the block, counted from 0.
   Returns how many, or -1 if they are more than `capacity`. `seen`: all lines, the blank ones too. */
int64_t assay_json_lines(const uint8_t *data, size_t size, int64_t capacity, int64_t *lines, int64_t *numbers,
                         int64_t *seen);

/* The fields `names` (count of them, UTF-8, name_sizes bytes each; no two alike) of `rows` lines.
   Field f of line i has kinds[i*count+f] and stands at [values[2*(i*count+f)], values[2*(i*count+f)+1]).
   Returns how many lines are unsure, or -1 if a line does not lie in the data or count is not 1 to 16. */
int64_t assay_json_fields(const uint8_t *data, size_t size, const int64_t *lines, int64_t rows,
                          const uint8_t *const *names, const int64_t *name_sizes, int64_t count, int64_t *values,
                          uint8_t *kinds);

/* The text of an escaped string: writes at most end - at bytes, returns how many; -1 if an escape is none. */
int64_t assay_json_unescape(const uint8_t *at, const uint8_t *end, uint8_t *to);

/* Bytes of all `rows` values together: room enough for their texts; -1 if a range ends before it starts. */
int64_t assay_json_room(const int64_t *values, int64_t rows);

/* Bytes of the longest of `rows` values. */
int64_t assay_json_longest(const int64_t *values, int64_t rows);

/* Texts of `rows` values one after the other into `to`; text i is [offsets[i], offsets[i+1]). Values that are no
   strings give nothing. `to` has room for `room` bytes, the sum of the ranges is enough. Returns the bytes written,
   or -1 if a range does not lie in the data, an escape is none or there is no room. */
int64_t assay_json_texts(const uint8_t *data, size_t size, const int64_t *values, const uint8_t *kinds, int64_t rows,
                         uint8_t *to, int64_t room, int64_t *offsets);

/* The lines whose mask is `value`, and their numbers, moved together into `kept` and `kept_numbers`. Returns how many. */
int64_t assay_json_keep(const int64_t *lines, const int64_t *numbers, const uint8_t *mask, int64_t rows, uint8_t value,
                        int64_t *kept, int64_t *kept_numbers);

/* Lines with their line feeds as runs of bytes, [runs[2i], runs[2i+1]): lines that follow one another are one run.
   The last line of data without a line feed is a run that ends where the data does. Returns how many runs. */
int64_t assay_json_runs(size_t size, const int64_t *lines, int64_t rows, int64_t *runs);

/* Values as they stand in the file, strings with their quotes, one after the other; as assay_json_texts otherwise.
   Two bytes a row are needed beside the sum of the ranges. */
int64_t assay_json_raw(const uint8_t *data, size_t size, const int64_t *values, const uint8_t *kinds, int64_t rows,
                       uint8_t *to, int64_t room, int64_t *offsets);
