/* What comes back, and how a request ends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http/engine.h"

enum { RECEIVED_AT_ONCE = 65536, MOST_ATTEMPTS = 3 };
#define SECOND 1000000000

static int fault_of_status(int status) {
    if (status >= 500) return FAULT_STATUS_5XX;
    if (status >= 400) return FAULT_STATUS_4XX;
    return status >= 300 ? FAULT_STATUS_3XX : FAULT_NONE;
}

/* Server-sent events that are complete: an empty line after lines of data. `line_kind` holds how much of "data" the
   line has matched (0 to 4), 5 for another line, and 8 more once the event has data. */
static void count_events(struct connection *connection, const uint8_t *bytes, size_t count) {
    uint8_t kind = connection->line_kind & 7, has_data = connection->line_kind & 8;
    for (size_t i = 0; i < count; i++) {
        uint8_t byte = bytes[i];
        if (byte == '\n') {
            if (kind == 0 && has_data) connection->events++, has_data = 0;
            if (kind == 4) has_data = 8;
            kind = 0;
        } else if (kind < 4 && byte == (uint8_t)"data"[kind]) {
            kind++;
        } else if (kind < 4 && byte != '\r') {
            kind = 5;
        }
    }
    connection->line_kind = kind | has_data;
}

/* Keeps body and pieces of a connection's answer in the caller's memory. 0: there is no room. */
static int keep_answer(struct engine *engine, struct connection *connection, struct row *row) {
    const struct http_settings *settings = &engine->settings;
    struct http_page *page = settings->page;
    row->status = connection->response.status;
    row->event_stream = connection->response.event_stream;
    row->piece_start = page->pieces;
    row->body_start = page->body_bytes;
    if ((int64_t)connection->body_bytes > settings->bodies_room - page->body_bytes
        || (int64_t)connection->piece_count > settings->pieces_room - page->pieces)
        return 0;
    if (connection->body_bytes)
        memcpy(settings->bodies + page->body_bytes, connection->body, connection->body_bytes);
    if (connection->piece_count)
        memcpy(settings->pieces + page->pieces, connection->pieces, connection->piece_count * sizeof(struct piece));
    row->body_bytes = (int64_t)connection->body_bytes;
    row->pieces = (int32_t)connection->piece_count;
    page->body_bytes += row->body_bytes;
    page->pieces += row->pieces;
    return 1;
}

void finish(struct engine *engine, int64_t number, int fault, int64_t now) {
    struct row *row = engine->settings.rows + number;
    struct http_page *page = engine->settings.page;
    row->end_ns = now;
    row->fault = (uint8_t)fault;
    __atomic_store_n(&row->state, ROW_ENDED, __ATOMIC_RELEASE);
    page->in_flight = --engine->in_flight;
    page->ended++;
    page->failed += fault != FAULT_NONE && fault != FAULT_CANCELLED;
    if (engine->cursor < engine->plan.count && !engine->plan.at_ns && !engine->plan.grouped) queue_put(&engine->freed, now);
    if (engine->notify) queue_put(&engine->ended, number);
    engine->failures = row->status ? 0 : engine->failures + 1;
    if (engine->settings.failures_in_a_row && engine->failures >= engine->settings.failures_in_a_row && !page->ended_by)
        page->ended_by = BY_FAILURES;
}

void end_exchange(struct engine *engine, struct connection *connection, int fault, int64_t now, int keep) {
    int64_t number = connection->request;
    if (!keep_answer(engine, connection, engine->settings.rows + number)) {
        fault = fault == FAULT_NONE ? FAULT_TOO_LARGE : fault;
        engine->settings.page->ended_by = BY_ROOM;
    }
    connection->served++;
    if (keep) connection_park(engine, connection);
    else connection_drop(engine, connection);
    finish(engine, number, fault, now);
}

/* A connection that could not be made fails the request that has waited longest for one. */
void fail_due(struct engine *engine, int fault) {
    struct queue *queue = engine->again.count ? &engine->again : &engine->due;
    if (!queue->count || engine->idle_count) return;
    if ((int64_t)(engine->due.count + engine->again.count) <= engine->opening) return;
    int64_t number = queue_take(queue), now = clock_ns();
    struct row *row = engine->settings.rows + number;
    if (!row->intended_ns) row->intended_ns = now;
    if (!row->sent_ns) row->sent_ns = now;
    if (row->attempts < UINT8_MAX) row->attempts++;
    engine->in_flight++;
    finish(engine, number, fault, now);
}

static void end_closed(struct engine *engine, struct connection *connection, int fault, int64_t now) {
    struct row *row = engine->settings.rows + connection->request;
    response_closed(&connection->response);
    if (connection->response.state == RESPONSE_DONE && fault == FAULT_NONE) {
        end_exchange(engine, connection, fault_of_status(connection->response.status), now, 0);
    } else if (row->first_byte_ns) {
        end_exchange(engine, connection, fault ? fault : FAULT_CUT, now, 0);
    } else if ((connection->served || row->sent_ns - connection->opened_ns > SECOND) && row->attempts < MOST_ATTEMPTS) {
        /* A kept-alive connection that the server had given up meanwhile: the request was not looked at. */
        queue_put(&engine->again, connection->request);
        row->state = ROW_DUE;
        engine->settings.page->in_flight = --engine->in_flight;
        connection_drop(engine, connection);
    } else {
        end_exchange(engine, connection, fault ? fault : FAULT_CLOSED, now, 0);
    }
}

static int make_room_for(struct connection *connection, size_t more) {
    return make_room((void **)&connection->body, &connection->body_room, connection->body_bytes + more, 1)
           && make_room((void **)&connection->pieces, &connection->piece_room, connection->piece_count + 1,
                        sizeof *connection->pieces);
}

/* Takes what lies in the socket, once: epoll says so again if there is more. */
void receive(struct engine *engine, struct connection *connection) {
    ssize_t got = recv(connection->fd, engine->receipt, RECEIVED_AT_ONCE, 0);
    int64_t now = clock_ns();
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    if (connection->request == NONE) {
        /* Closed by the server while idle; bytes that nobody asked for make it unusable too. */
        connection_drop(engine, connection);
        return;
    }
    connection->last_ns = now;
    if (got <= 0) {
        end_closed(engine, connection, got < 0 ? FAULT_RESET : FAULT_NONE, now);
        return;
    }
    struct response *response = &connection->response;
    struct row *row = engine->settings.rows + connection->request;
    if (!row->first_byte_ns) row->first_byte_ns = now;
    if (!make_room_for(connection, (size_t)got)) {
        end_exchange(engine, connection, FAULT_TOO_LARGE, now, 0);
        return;
    }
    size_t before = connection->body_bytes;
    size_t taken = response_feed(response, engine->receipt, (size_t)got, connection->body, &connection->body_bytes);
    if (connection->body_bytes > before)
        connection->pieces[connection->piece_count++] = (struct piece){now, (int64_t)connection->body_bytes};
    if (response->state == RESPONSE_MALFORMED) {
        end_exchange(engine, connection, FAULT_MALFORMED, now, 0);
    } else if (response->state == RESPONSE_DONE) {
        int keep = response->keep_alive && taken == (size_t)got && !connection->unsent_bytes;
        end_exchange(engine, connection, fault_of_status(response->status), now, keep);
    } else if ((int64_t)connection->body_bytes > engine->settings.most_answer_bytes) {
        end_exchange(engine, connection, FAULT_TOO_LARGE, now, 0);
    } else if (connection->cancel_events) {
        count_events(connection, connection->body + before, connection->body_bytes - before);
        if (connection->events >= connection->cancel_events) end_exchange(engine, connection, FAULT_CANCELLED, now, 0);
    }
}

int64_t deadline(struct engine *engine, struct connection *connection, int *fault) {
    const struct http_settings *settings = &engine->settings;
    if (connection->phase == PHASE_IDLE) return NEVER;
    if (connection->phase == PHASE_CONNECTING) {
        *fault = FAULT_CONNECT_TIMEOUT;
        return connection->opened_ns + settings->connect_ns;
    }
    int64_t limit = connection->last_ns + settings->idle_ns;
    int64_t total = settings->rows[connection->request].sent_ns + settings->total_ns;
    *fault = FAULT_IDLE_TIMEOUT;
    if (total < limit) limit = total, *fault = FAULT_TOTAL_TIMEOUT;
    if (connection->cancel_at_ns < limit) limit = connection->cancel_at_ns, *fault = FAULT_CANCELLED;
    return limit;
}

/* Ends what has taken too long. Deadlines only move away while bytes come, so looking again at the earliest one known
   is enough. */
void end_late(struct engine *engine, int64_t now) {
    if (now < engine->next_deadline_ns) return;
    engine->next_deadline_ns = NEVER;
    for (int64_t i = engine->connection_count; i-- > 0;) {
        struct connection *connection = engine->connections[i];
        int fault = FAULT_NONE;
        int64_t limit = deadline(engine, connection, &fault);
        if (limit > now) {
            if (limit < engine->next_deadline_ns) engine->next_deadline_ns = limit;
        } else if (connection->phase == PHASE_CONNECTING) {
            engine->settings.page->last_errno = ETIMEDOUT;
            connection_drop(engine, connection);
            fail_due(engine, fault);
        } else {
            end_exchange(engine, connection, fault, now, 0);
        }
    }
}
