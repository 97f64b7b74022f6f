/* The HTTP client: one thread, one epoll, every socket non-blocking.

   Requests are known by number: those of a plan first, in order, then those submitted one by one. What is due goes out
   on the connection that was used last; what comes back is cut by response.c and timed at once after recv(2). Memory of
   rows, pieces and bodies is given by the caller and may be shared with another process that looks on. Nothing else is
   shared: an engine belongs to one thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "http/exchange.h"
#include "http/fault.h"
#include "http/response.h"
#include "level.h"

#define NEVER INT64_MAX
#define NONE (-1)

/* Given by the caller; mirrored in native_client.py. */
struct http_settings {
    int64_t most_in_flight; /* 0: no limit */
    int64_t most_connections;
    int64_t connect_ns, idle_ns, total_ns;
    int64_t most_answer_bytes;
    int64_t failures_in_a_row; /* 0: goes on for ever */
    struct row *rows;
    int64_t rows_room;
    struct piece *pieces;
    int64_t pieces_room;
    uint8_t *bodies;
    int64_t bodies_room;
    struct http_page *page;
    struct sockaddr_storage address;
    int64_t address_bytes;
};

/* Counters that another process may read while the engine runs; `stop` is for it to write. */
struct http_page {
    int64_t stop;
    int64_t started_ns;
    int64_t plan_due, later; /* requests of the plan that became due; requests submitted one by one */
    int64_t sent, ended, failed, in_flight;
    int64_t pieces, body_bytes;
    int64_t connections;
    int64_t spun_ns;
    int64_t ended_by; /* enum ended_by */
    int64_t last_errno;
    int64_t cpu_ns;
};

enum ended_by { BY_ITSELF, BY_STOP, BY_FAILURES, BY_ROOM };

struct http_plan {
    const uint8_t *const *messages;
    const int64_t *message_bytes;
    int64_t message_count;
    const int32_t *order;  /* NULL: the messages in turn */
    const int64_t *at_ns;  /* NULL: when a slot is free */
    int64_t count;
    int64_t cancel_ns, cancel_events; /* 0: not cancelled */
    int64_t grouped;
};

enum phase { PHASE_CLOSED, PHASE_CONNECTING, PHASE_IDLE, PHASE_BUSY };

struct connection {
    int fd;
    int32_t number;
    uint8_t phase;
    uint8_t watches_writing;
    int64_t request;
    int64_t served;
    int64_t opened_ns, last_ns;
    int64_t cancel_at_ns; /* NEVER: not cancelled */
    int64_t cancel_events, events;
    uint8_t line_kind; /* of the line that is coming, see count_events */
    const uint8_t *unsent;
    size_t unsent_bytes;
    uint8_t *body;
    size_t body_bytes, body_room;
    struct piece *pieces;
    size_t piece_count, piece_room;
    struct response response;
};

/* A request submitted by itself. */
struct later {
    const uint8_t *message;
    int64_t message_bytes, at_ns, cancel_ns, cancel_events;
};

/* Numbers of requests, first in first out. */
struct queue {
    int64_t *numbers;
    size_t first, count, room;
};

struct engine {
    struct http_settings settings;
    struct http_plan plan;
    int poll;
    int tick; /* a timer, see set_tick */
    uint8_t *receipt;

    struct connection **connections;
    int64_t connection_count, connection_room;
    struct connection **idle;
    int64_t idle_count;
    int64_t opening;
    int64_t made;

    struct later *later;
    int64_t later_count, later_room;
    int64_t *waiting; /* a heap of numbers of later requests, the earliest first */
    int64_t waiting_count, waiting_room;
    struct queue due, again, freed, ended;

    int64_t cursor;     /* the next request of the plan */
    int64_t group_left; /* of a grouped plan: how many may still go with this group */
    int64_t in_flight;
    int64_t failures;
    int64_t start_ns, send_until_ns, drain_until_ns;
    int64_t next_deadline_ns; /* no deadline of a connection lies before it */
    int64_t spin_ns, run_began_ns;
    int notify;
};

int64_t clock_ns(void);

/* connection.c */
struct connection *connection_open(struct engine *engine);
void connection_drop(struct engine *engine, struct connection *connection);
int connection_advance(struct engine *engine, struct connection *connection);
void connection_begin(struct engine *engine, struct connection *connection, int64_t request);
void connection_write(struct engine *engine, struct connection *connection);
void connection_park(struct engine *engine, struct connection *connection);

/* queue.c */
int queue_put(struct queue *queue, int64_t number);
int64_t queue_take(struct queue *queue);
int heap_put(struct engine *engine, int64_t number);
int64_t heap_take(struct engine *engine);
int make_room(void **memory, size_t *room, size_t wanted, size_t each);

/* dispatch.c */
void make_due(struct engine *engine, int64_t now);
void dispatch(struct engine *engine, int64_t now);
struct later *later_of(struct engine *engine, int64_t number);

/* answer.c */
void receive(struct engine *engine, struct connection *connection);
void end_late(struct engine *engine, int64_t now);
void end_exchange(struct engine *engine, struct connection *connection, int fault, int64_t now, int keep);
void fail_due(struct engine *engine, int fault);
void finish(struct engine *engine, int64_t number, int fault, int64_t now);
int64_t deadline(struct engine *engine, struct connection *connection, int *fault);
