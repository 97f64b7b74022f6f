/* What is due, and on which connection it goes. */
#include "http/engine.h"

struct later *later_of(struct engine *engine, int64_t number) {
    return number < engine->plan.count ? NULL : engine->later + (number - engine->plan.count);
}

static void be_due(struct engine *engine, int64_t number, int64_t intended_ns) {
    struct row *row = engine->settings.rows + number;
    row->intended_ns = intended_ns;
    row->connection = NONE;
    row->state = ROW_DUE;
    queue_put(&engine->due, number);
}

static int64_t next_of_plan(struct engine *engine) {
    const struct http_plan *plan = &engine->plan;
    int64_t number = engine->cursor++;
    engine->settings.rows[number].message =
        plan->order ? plan->order[number] : (int32_t)(number % plan->message_count);
    engine->settings.page->plan_due = engine->cursor;
    return number;
}

static void make_slots_due(struct engine *engine, int64_t now) {
    int64_t most = engine->settings.most_in_flight, queued = (int64_t)(engine->due.count + engine->again.count);
    int grouped = engine->plan.grouped != 0;
    if (grouped && !engine->group_left && !engine->in_flight && !queued) engine->group_left = most;
    int64_t free_slots = grouped ? engine->group_left : most - engine->in_flight - queued;
    for (; free_slots > 0 && engine->cursor < engine->plan.count; free_slots--) {
        int64_t freed = engine->freed.count && !grouped ? queue_take(&engine->freed) : now;
        be_due(engine, next_of_plan(engine), freed > engine->start_ns ? freed : engine->start_ns);
        if (engine->group_left) engine->group_left--;
    }
}

/* Puts what should have been sent by `now` into the queue. */
void make_due(struct engine *engine, int64_t now) {
    while (engine->waiting_count && engine->start_ns + later_of(engine, engine->waiting[0])->at_ns <= now) {
        int64_t number = heap_take(engine);
        be_due(engine, number, engine->start_ns + later_of(engine, number)->at_ns);
    }
    if (!engine->plan.at_ns) {
        if (engine->cursor < engine->plan.count && now >= engine->start_ns) make_slots_due(engine, now);
        return;
    }
    while (engine->cursor < engine->plan.count && engine->start_ns + engine->plan.at_ns[engine->cursor] <= now) {
        int64_t at = engine->start_ns + engine->plan.at_ns[engine->cursor];
        be_due(engine, next_of_plan(engine), at);
    }
}

static void send_on(struct engine *engine, struct connection *connection, int64_t number) {
    struct row *row = engine->settings.rows + number;
    struct http_page *page = engine->settings.page;
    if (row->attempts < UINT8_MAX) row->attempts++;
    row->connection = connection->number;
    row->state = ROW_IN_FLIGHT;
    page->in_flight = ++engine->in_flight;
    page->sent++;
    connection_begin(engine, connection, number);
}

/* Sends what is due, as far as slots and connections go. More connections are made where there are too few. */
void dispatch(struct engine *engine, int64_t now) {
    int64_t most = engine->settings.most_in_flight;
    if (now >= engine->send_until_ns) return;
    make_due(engine, now);
    while (engine->due.count + engine->again.count) {
        if (most && engine->in_flight >= most) return;
        if (!engine->idle_count) {
            int64_t wanted = (int64_t)(engine->due.count + engine->again.count) - engine->opening;
            int64_t room = engine->settings.most_connections - engine->connection_count;
            if (most && wanted > most - engine->in_flight - engine->opening)
                wanted = most - engine->in_flight - engine->opening;
            for (; wanted > 0 && room > 0; wanted--, room--)
                if (!connection_open(engine)) {
                    /* No more sockets: those there are must do, or nothing can be sent at all. */
                    if (!engine->connection_count) fail_due(engine, FAULT_REFUSED);
                    break;
                }
            return;
        }
        struct connection *connection = engine->idle[--engine->idle_count];
        send_on(engine, connection, queue_take(engine->again.count ? &engine->again : &engine->due));
    }
}
