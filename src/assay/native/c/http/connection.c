#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "http/engine.h"

static void watch(struct engine *engine, struct connection *connection, int operation, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = connection};
    epoll_ctl(engine->poll, operation, connection->fd, &event);
    connection->watches_writing = (events & EPOLLOUT) != 0;
}

/* A connection that is being made, or NULL with the reason in the page. */
struct connection *connection_open(struct engine *engine) {
    struct connection *connection = NULL;
    size_t room = (size_t)engine->connection_room;
    int fd = socket(engine->settings.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0) connection = calloc(1, sizeof *connection);
    if (fd < 0 || !connection
        || !make_room((void **)&engine->connections, &room, (size_t)engine->connection_count + 1, sizeof(void *)))
        goto failed;
    if (room != (size_t)engine->connection_room) {
        void *idle = realloc(engine->idle, room * sizeof(void *));
        if (!idle) goto failed;
        engine->idle = idle;
        engine->connection_room = (int64_t)room;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    connection->fd = fd;
    connection->phase = PHASE_CONNECTING;
    connection->request = NONE;
    connection->opened_ns = connection->last_ns = clock_ns();
    if (connect(fd, (struct sockaddr *)&engine->settings.address, (socklen_t)engine->settings.address_bytes)
        && errno != EINPROGRESS)
        goto failed;
    connection->number = (int32_t)engine->made++;
    engine->settings.page->connections = engine->made;
    engine->connections[engine->connection_count++] = connection;
    engine->opening++;
    watch(engine, connection, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT);
    int64_t limit = connection->opened_ns + engine->settings.connect_ns;
    if (limit < engine->next_deadline_ns) engine->next_deadline_ns = limit;
    return connection;
failed:
    engine->settings.page->last_errno = errno;
    if (fd >= 0) close(fd);
    free(connection);
    return NULL;
}

/* Closes and frees; whoever holds it must let go. */
void connection_drop(struct engine *engine, struct connection *connection) {
    if (connection->phase == PHASE_CONNECTING) engine->opening--;
    for (int64_t i = engine->idle_count; connection->phase == PHASE_IDLE && i-- > 0;)
        if (engine->idle[i] == connection) {
            memmove(engine->idle + i, engine->idle + i + 1, (size_t)(--engine->idle_count - i) * sizeof(void *));
            break;
        }
    for (int64_t i = 0; i < engine->connection_count; i++)
        if (engine->connections[i] == connection) {
            engine->connections[i] = engine->connections[--engine->connection_count];
            break;
        }
    close(connection->fd);
    free(connection->body);
    free(connection->pieces);
    free(connection);
}

/* The socket can be written to: it is connected, or it is not and never will be. 0: it failed. */
int connection_advance(struct engine *engine, struct connection *connection) {
    int error = 0;
    if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){sizeof error})) error = errno;
    if (error) {
        engine->settings.page->last_errno = error;
        return 0;
    }
    engine->opening--;
    connection_park(engine, connection);
    watch(engine, connection, EPOLL_CTL_MOD, EPOLLIN);
    return 1;
}

void connection_park(struct engine *engine, struct connection *connection) {
    connection->phase = PHASE_IDLE;
    connection->request = NONE;
    engine->idle[engine->idle_count++] = connection;
}

void connection_begin(struct engine *engine, struct connection *connection, int64_t request) {
    struct row *row = engine->settings.rows + request;
    struct later *later = later_of(engine, request);
    const struct http_plan *plan = &engine->plan;
    const uint8_t *message = later ? later->message : plan->messages[row->message];
    size_t bytes = (size_t)(later ? later->message_bytes : plan->message_bytes[row->message]);
    int64_t cancel_ns = later ? later->cancel_ns : plan->cancel_ns;
    connection->phase = PHASE_BUSY;
    connection->request = request;
    connection->body_bytes = connection->piece_count = 0;
    connection->events = 0;
    connection->line_kind = 0;
    connection->cancel_events = later ? later->cancel_events : plan->cancel_events;
    connection->unsent = message;
    connection->unsent_bytes = bytes;
    response_begin(&connection->response, bytes >= 5 && !memcmp(message, "HEAD ", 5));
    int64_t now = clock_ns();
    if (!row->intended_ns) row->intended_ns = now;
    if (!row->sent_ns) row->sent_ns = now;
    connection->last_ns = now;
    connection->cancel_at_ns = cancel_ns ? row->sent_ns + cancel_ns : NEVER;
    int fault;
    int64_t limit = deadline(engine, connection, &fault);
    if (limit < engine->next_deadline_ns) engine->next_deadline_ns = limit;
    connection_write(engine, connection);
}

/* Gives the kernel what is left of the message. An error is left for recv to tell: an answer may lie in the socket
   though the server has stopped reading. */
void connection_write(struct engine *engine, struct connection *connection) {
    while (connection->unsent_bytes) {
        ssize_t sent = send(connection->fd, connection->unsent, connection->unsent_bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) connection->unsent_bytes = 0;
        if (sent < 0) break;
        connection->unsent += sent;
        connection->unsent_bytes -= (size_t)sent;
    }
    if ((connection->unsent_bytes != 0) != connection->watches_writing)
        watch(engine, connection, EPOLL_CTL_MOD, EPOLLIN | (connection->unsent_bytes ? EPOLLOUT : 0));
}
