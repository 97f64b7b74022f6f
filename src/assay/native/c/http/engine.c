#define _GNU_SOURCE
#include "http/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_AT_ONCE = 256, RECEIPT_BYTES = 65536 };
#define LONGEST_WAIT_NS 50000000
#define SPIN_MOST_NS 100000
#define SPIN_LEAST_NS 5000
/* Spinning may take one part in this many of the time: what is spun is taken from a server on the same machine. */
#define SPIN_SHARE 5

int64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

API struct engine *http_open(const struct http_settings *settings) {
    struct engine *engine = calloc(1, sizeof *engine);
    if (!engine) return NULL;
    engine->settings = *settings;
    engine->receipt = malloc(RECEIPT_BYTES);
    engine->poll = epoll_create1(EPOLL_CLOEXEC);
    engine->tick = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    engine->next_deadline_ns = engine->send_until_ns = engine->drain_until_ns = NEVER;
    engine->spin_ns = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? SPIN_MOST_NS : 0;
    if (engine->poll < 0 || engine->tick < 0 || !engine->receipt
        || epoll_ctl(engine->poll, EPOLL_CTL_ADD, engine->tick, &(struct epoll_event){.events = EPOLLIN})) {
        settings->page->last_errno = errno;
        if (engine->poll >= 0) close(engine->poll);
        if (engine->tick >= 0) close(engine->tick);
        free(engine->receipt);
        free(engine);
        return NULL;
    }
    return engine;
}

/* Where rows, pieces and bodies go from now on; rows must be zero. Only while nothing is in flight. */
API void http_memory(struct engine *engine, struct row *rows, int64_t rows_room, struct piece *pieces,
                     int64_t pieces_room, uint8_t *bodies, int64_t bodies_room) {
    struct http_settings *settings = &engine->settings;
    settings->rows = rows, settings->rows_room = rows_room;
    settings->pieces = pieces, settings->pieces_room = pieces_room;
    settings->bodies = bodies, settings->bodies_room = bodies_room;
}

API void http_plan(struct engine *engine, const struct http_plan *plan) { engine->plan = *plan; }

/* The number of the request, or -1: no room. The message must outlive it. */
API int64_t http_submit(struct engine *engine, const uint8_t *message, int64_t message_bytes, int64_t at_ns,
                        int64_t cancel_ns, int64_t cancel_events) {
    size_t room = (size_t)engine->later_room;
    int64_t number = engine->plan.count + engine->later_count;
    if (number >= engine->settings.rows_room
        || !make_room((void **)&engine->later, &room, (size_t)engine->later_count + 1, sizeof *engine->later))
        return NONE;
    engine->later_room = (int64_t)room;
    engine->later[engine->later_count] = (struct later){message, message_bytes, at_ns, cancel_ns, cancel_events};
    engine->settings.rows[number].message = (int32_t)(engine->plan.message_count + engine->later_count);
    engine->settings.rows[number].connection = NONE;
    engine->settings.page->later = ++engine->later_count;
    if (at_ns >= 0) return heap_put(engine, number) ? number : NONE;
    engine->settings.rows[number].state = ROW_DUE;
    return queue_put(&engine->due, number) ? number : NONE;
}

/* Ticks while a run lasts, so that waiting needs no time limit of its own: arming a timer for every wait costs more than
   receiving does, above all in a virtual machine. */
static void set_tick(struct engine *engine, int64_t every_ns) {
    struct itimerspec times = {.it_interval.tv_nsec = every_ns, .it_value.tv_nsec = every_ns};
    timerfd_settime(engine->tick, 0, &times, NULL);
}

/* Waits for events, at most so long (-1: until one comes), and handles them. */
static void poll_once(struct engine *engine, int64_t wait_ns) {
    struct epoll_event events[EVENTS_AT_ONCE];
    struct timespec limit = {.tv_sec = wait_ns / 1000000000, .tv_nsec = wait_ns % 1000000000};
    int count = epoll_pwait2(engine->poll, events, EVENTS_AT_ONCE, wait_ns < 0 ? NULL : &limit, NULL);
    if (count < 0 && errno == ENOSYS)
        count = epoll_wait(engine->poll, events, EVENTS_AT_ONCE, wait_ns < 0 ? -1 : (int)((wait_ns + 999999) / 1000000));
    for (int i = 0; i < count; i++) {
        struct connection *connection = events[i].data.ptr;
        if (!connection) {
            uint64_t ticks;
            if (read(engine->tick, &ticks, sizeof ticks) != sizeof ticks) set_tick(engine, LONGEST_WAIT_NS);
            continue;
        }
        if (connection->phase == PHASE_CONNECTING) {
            if (!connection_advance(engine, connection)) {
                connection_drop(engine, connection);
                fail_due(engine, FAULT_REFUSED);
            }
            continue;
        }
        int64_t in_flight = engine->in_flight;
        if (events[i].events & EPOLLOUT) connection_write(engine, connection);
        if (events[i].events & ~(uint32_t)EPOLLOUT) receive(engine, connection);
        if (engine->in_flight < in_flight && !engine->notify && !engine->settings.page->ended_by)
            dispatch(engine, clock_ns());
    }
}

/* Connections that are ready, at most `count`; made before the clock starts. */
API int64_t http_connect(struct engine *engine, int64_t count) {
    int64_t limit = clock_ns() + engine->settings.connect_ns;
    while (engine->connection_count < count && connection_open(engine)) continue;
    for (int64_t now; engine->opening && (now = clock_ns()) < limit;) {
        poll_once(engine, limit - now);
        end_late(engine, clock_ns());
    }
    return engine->idle_count;
}

static int over(struct engine *engine, int64_t now) {
    if (engine->settings.page->ended_by) return 1;
    if (__atomic_load_n(&engine->settings.page->stop, __ATOMIC_RELAXED)) {
        engine->settings.page->ended_by = BY_STOP;
        return 1;
    }
    if (engine->in_flight) return now >= engine->drain_until_ns;
    if (now >= engine->send_until_ns) return 1;
    return engine->cursor >= engine->plan.count && !engine->due.count && !engine->again.count && !engine->waiting_count;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* When the schedule next asks for a send. NEVER where it cannot be answered: no slot is free. */
static int64_t next_send(struct engine *engine, int64_t now) {
    int64_t at = NEVER, most = engine->settings.most_in_flight;
    if (most && engine->in_flight >= most) return NEVER;
    if (engine->waiting_count) at = engine->start_ns + later_of(engine, engine->waiting[0])->at_ns;
    if (engine->plan.at_ns && engine->cursor < engine->plan.count)
        at = least(at, engine->start_ns + engine->plan.at_ns[engine->cursor]);
    if (!engine->plan.at_ns && engine->cursor < engine->plan.count && now < engine->start_ns)
        at = least(at, engine->start_ns);
    return at;
}

/* Follows the lateness of wake-ups from above, as loadgen/sender.py does: up at once, down slowly. One that is later
   than any spin would cover lost its core to another program and says nothing of the timer. */
static void learn(struct engine *engine, int64_t late) {
    if (late >= SPIN_MOST_NS || late < 0 || !engine->spin_ns) return;
    if (late > engine->spin_ns) engine->spin_ns = least(late + late / 4, SPIN_MOST_NS);
    else engine->spin_ns -= (engine->spin_ns - late) / 32;
    if (engine->spin_ns < SPIN_LEAST_NS) engine->spin_ns = SPIN_LEAST_NS;
}

/* Sleeps until something comes or something must be done. Shortly before a send it looks without sleeping: a sleep ends
   20 to 90 microseconds late. */
static void wait_for_work(struct engine *engine, int64_t now) {
    struct http_page *page = engine->settings.page;
    int64_t send_at = next_send(engine, now);
    int64_t wake = least(engine->next_deadline_ns, engine->drain_until_ns);
    if (engine->send_until_ns > now) wake = least(wake, engine->send_until_ns);
    int may_spin = page->spun_ns * SPIN_SHARE < now - engine->run_began_ns + SPIN_MOST_NS;
    int64_t spin = may_spin ? engine->spin_ns : 0;
    if (send_at != NEVER && send_at - now <= spin) {
        int64_t began = now;
        while (now < send_at && engine->in_flight == 0) now = clock_ns();
        while (now < send_at) {
            poll_once(engine, 0);
            now = clock_ns();
        }
        page->spun_ns += now - began;
        return;
    }
    int64_t sleep_until = send_at == NEVER ? wake : least(wake, send_at - spin);
    if (sleep_until - now >= LONGEST_WAIT_NS) {
        poll_once(engine, -1);
        return;
    }
    int64_t ended = page->ended;
    poll_once(engine, sleep_until > now ? sleep_until - now : 0);
    if (send_at != NEVER && sleep_until == send_at - spin && page->ended == ended)
        learn(engine, clock_ns() - sleep_until);
}

/* What is in flight when the run is over is unfinished; what was due by its schedule was never sent. */
static void end_rest(struct engine *engine) {
    int64_t now = clock_ns();
    for (int64_t i = engine->connection_count; i-- > 0;)
        if (engine->connections[i]->phase == PHASE_BUSY)
            end_exchange(engine, engine->connections[i], FAULT_UNFINISHED, now, 0);
    if (engine->plan.at_ns || engine->waiting_count) make_due(engine, least(now, engine->send_until_ns));
    while (engine->due.count + engine->again.count) {
        int64_t number = queue_take(engine->again.count ? &engine->again : &engine->due);
        struct row *row = engine->settings.rows + number;
        row->end_ns = now;
        row->fault = FAULT_NEVER_SENT;
        row->state = engine->plan.at_ns || number >= engine->plan.count || row->sent_ns ? ROW_ENDED : ROW_NEW;
    }
    engine->freed.count = 0;
}

/* Runs until all is over (1), or with `notify` until requests have ended (0): http_ended names them. The times are
   CLOCK_MONOTONIC; NEVER for the last two: no such limit. */
API int http_run(struct engine *engine, int64_t start_ns, int64_t send_until_ns, int64_t drain_until_ns, int notify) {
    struct timespec cpu_before, cpu_after;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu_before);
    engine->start_ns = engine->settings.page->started_ns = start_ns;
    engine->send_until_ns = send_until_ns;
    engine->drain_until_ns = drain_until_ns;
    engine->notify = notify;
    if (!engine->run_began_ns) engine->run_began_ns = clock_ns();
    int done = 0;
    set_tick(engine, LONGEST_WAIT_NS);
    for (;;) {
        int64_t now = clock_ns();
        end_late(engine, now);
        if ((done = over(engine, now))) break;
        dispatch(engine, now);
        if (notify && engine->ended.count) break;
        if ((done = over(engine, now))) break;
        wait_for_work(engine, now);
        if (notify && engine->ended.count) break;
    }
    set_tick(engine, 0);
    if (done) {
        engine->notify = 0;
        end_rest(engine);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu_after);
    engine->settings.page->cpu_ns += (int64_t)(cpu_after.tv_sec - cpu_before.tv_sec) * 1000000000
                                     + (cpu_after.tv_nsec - cpu_before.tv_nsec);
    return done;
}

API int64_t http_ended(struct engine *engine, int64_t *numbers, int64_t most) {
    int64_t count = 0;
    while (count < most && engine->ended.count) numbers[count++] = queue_take(&engine->ended);
    return count;
}

/* Drops requests and answers, keeps the connections. The caller clears the rows. */
API void http_forget(struct engine *engine) {
    struct http_page *page = engine->settings.page;
    int64_t connections = page->connections;
    memset(page, 0, sizeof *page);
    page->connections = connections;
    engine->plan = (struct http_plan){0};
    engine->cursor = engine->group_left = engine->later_count = engine->waiting_count = engine->failures = 0;
    engine->due.count = engine->again.count = engine->freed.count = engine->ended.count = 0;
    engine->run_began_ns = 0;
}

/* Closes this process's hold on the sockets; a child that was forked keeps its own. */
API void http_close(struct engine *engine) {
    while (engine->connection_count) connection_drop(engine, engine->connections[engine->connection_count - 1]);
    close(engine->poll);
    close(engine->tick);
    struct queue *queues[] = {&engine->due, &engine->again, &engine->freed, &engine->ended};
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) free(queues[i]->numbers);
    free(engine->connections);
    free(engine->idle);
    free(engine->later);
    free(engine->waiting);
    free(engine->receipt);
    free(engine);
}
