/* Windows built from a block of lines. A file for each level includes this one, and says as BUILD what it is called. */
#pragma once
#include "builders.h"
#include "normal_form.h"
#include "recording.h"
#include "windows.h"

enum { NORMAL, LOOSE, REWRITTEN, FORMS }; /* how a line is taken; each takes what the one before does, and costs more */
#define HOLD 32 /* lines after which the form that costs least is tried again */

typedef struct Workspace { /* layouts learnt from a block serve the next */
    Parser parser;
    Text spoken, kept, rewritten;
    int form, learnt; /* of the line before, and so probably of this one; of the lines that the layouts are from */
} Workspace;

static void forget_layouts(Workspace *workspace, int form) {
    Parser *parser = &workspace->parser;
    parser->top.count = parser->segment.count = parser->metrics.count = parser->word.count = 0;
    workspace->learnt = form;
}

/* 0: not sure, and the batch is as it was. */
static int built(Batch *batch, At start, At end, Row *row, int form) {
    Workspace *workspace = batch->workspace;
    size_t segments = batch->segments.count, cuts = batch->cuts.count, windows_before = batch->windows.count,
           losts = batch->losts.count, text = batch->text.count;
    *row = (Row){.line_start = row->line_start, .line_end = row->line_end};
    row->first_window = (uint32_t)windows_before;
    row->first_lost = (uint32_t)losts;
    if (workspace->learnt != form) forget_layouts(workspace, form);
    workspace->parser.scan.loose = form == LOOSE;
    if (recording(&workspace->parser, start, end, row) &&
        windows(&workspace->parser, row, &workspace->spoken, &workspace->kept) &&
        batch->text.count <= UINT32_MAX) /* a Range has no more, and cut copies can add up to it */
        return 1;
    batch->segments.count = segments, batch->cuts.count = cuts, batch->windows.count = windows_before;
    batch->losts.count = losts, batch->text.count = text;
    return 0;
}

static int built_rewritten(Batch *batch, At start, At end, Row *row) {
    Workspace *workspace = batch->workspace;
    Text *line = &workspace->rewritten;
    At safe = workspace->parser.scan.safe;
    line->count = 0;
    if (!add_normal(line, start, end)) return 0;
    RESERVE(*line, PADDING);
    memset(line->at + line->count, 0, PADDING);
    workspace->parser.scan.safe = line->at + line->count;
    int done = built(batch, line->at, line->at + line->count, row, NORMAL);
    workspace->parser.scan.safe = safe;
    return done;
}

static void build_row(Batch *batch, At start, At end, At data) {
    Workspace *workspace = batch->workspace;
    Row *row = &PUSH(batch->rows);
    row->line_start = start - data;
    row->line_end = end - data;
    int likely = batch->rows.count % HOLD ? workspace->form : NORMAL;
    for (int tried = 0; tried < FORMS; tried++) {
        int form = (likely + tried) % FORMS;
        if (form == REWRITTEN ? !built_rewritten(batch, start, end, row) : !built(batch, start, end, row, form)) continue;
        workspace->form = form;
        return;
    }
    *row = (Row){.line_start = start - data, .line_end = end - data, .kind = PLAIN};
}

int64_t BUILD(Batch *batch, const uint8_t *data, uint64_t size, const Parameters *parameters) {
    GUARDED(-1);
    Parser *parser = &batch->workspace->parser;
    if (parser->serial != parameters->serial) forget_layouts(batch->workspace, NORMAL); /* they know what is dropped */
    parser->serial = parameters->serial;
    parser->batch = batch;
    parser->parameters = parameters;
    parser->scan.safe = size < PADDING ? data - 1 : data + size - PADDING;
    batch->rows.count = batch->segments.count = batch->cuts.count = batch->windows.count = 0;
    batch->losts.count = batch->order.count = batch->text.count = 0;
    /* A place in an array that was never needed would be counted from a null pointer, which C does not allow. */
    RESERVE(batch->segments, 1);
    RESERVE(batch->cuts, 1);
    RESERVE(batch->windows, 1);
    RESERVE(batch->losts, 1);
    RESERVE(batch->words, 1);
    RESERVE(batch->text, 1);
    RESERVE(batch->workspace->rewritten, 1);
    for (At p = data, end = data + size; p < end;) {
        At newline = memchr(p, '\n', end - p), last = newline ? newline : end, next = newline ? newline + 1 : end;
        while (p < last && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
        while (last > p && (last[-1] == ' ' || last[-1] == '\t' || last[-1] == '\r')) last--;
        if (p < last) build_row(batch, p, last, data);
        p = next;
    }
    return (int64_t)batch->rows.count;
}
