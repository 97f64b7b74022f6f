#define _GNU_SOURCE
#include "http/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/engine.h"

enum { MOST_REQUEST = 64 << 20, READ_AT_ONCE = 65536, PEERS_AT_ONCE = 256 };
#define LONGEST_WAIT_NS 50000000

/* One client's connection. */
struct peer {
    int fd;
    int64_t request;
    const struct serve_reply *reply; /* NULL: a request is awaited */
    int64_t piece;
    size_t offset; /* of the piece, where the kernel did not take all of it */
    int64_t due_ns;
    int64_t heap_at; /* NONE: not waiting for a time */
    uint8_t *bytes;
    size_t count, room;
    size_t whole; /* bytes of the request; 0: its head is not whole yet */
};

struct server {
    const struct serve_settings *settings;
    int poll;
    int64_t requests;
    struct peer **heap;
    size_t heap_count, heap_room;
};

static void place(struct server *server, size_t at, struct peer *peer) {
    server->heap[at] = peer;
    peer->heap_at = (int64_t)at;
}

static void rise(struct server *server, size_t at) {
    struct peer *peer = server->heap[at];
    for (; at && server->heap[(at - 1) / 2]->due_ns > peer->due_ns; at = (at - 1) / 2)
        place(server, at, server->heap[(at - 1) / 2]);
    place(server, at, peer);
}

static void sink(struct server *server, size_t at) {
    struct peer *peer = server->heap[at];
    for (size_t child; (child = 2 * at + 1) < server->heap_count; at = child) {
        if (child + 1 < server->heap_count && server->heap[child + 1]->due_ns < server->heap[child]->due_ns) child++;
        if (server->heap[child]->due_ns >= peer->due_ns) break;
        place(server, at, server->heap[child]);
    }
    place(server, at, peer);
}

static void unplan(struct server *server, struct peer *peer) {
    if (peer->heap_at == NONE) return;
    size_t at = (size_t)peer->heap_at;
    struct peer *last = server->heap[--server->heap_count];
    peer->heap_at = NONE;
    if (last == peer) return;
    place(server, at, last);
    sink(server, at);
    rise(server, (size_t)last->heap_at);
}

static void drop(struct server *server, struct peer *peer) {
    unplan(server, peer);
    close(peer->fd);
    free(peer->bytes);
    free(peer);
}

static void note(struct server *server, int64_t request, int64_t piece) {
    const struct serve_settings *settings = server->settings;
    if (!settings->log || *settings->logged >= settings->log_room) return;
    settings->log[(*settings->logged)++] = (struct serve_sent){request, piece, clock_ns()};
}

/* Where the request ends, from its Content-Length; 0 where its head is not whole. Chunked requests are not taken. */
static size_t request_bytes(const struct peer *peer) {
    const uint8_t *end = memmem(peer->bytes, peer->count, "\r\n\r\n", 4);
    if (!end) return 0;
    size_t head = (size_t)(end - peer->bytes) + 4, length = 0;
    for (const uint8_t *line = peer->bytes; line < end; line++) {
        if (line[0] == '\n' && (line[1] | 32) == 'c' && (size_t)(end - line) > 17
            && !strncasecmp((const char *)line + 1, "content-length:", 15)) {
            for (line += 16; line < end && (*line == ' ' || (*line >= '0' && *line <= '9')); line++)
                if (*line != ' ' && length < MOST_REQUEST) length = length * 10 + (size_t)(*line - '0');
            break;
        }
    }
    return head + length;
}

static int asks_for_stream(const uint8_t *bytes, size_t count) {
    const uint8_t *at = memmem(bytes, count, "\"stream\"", 8);
    if (!at) return 0;
    const uint8_t *end = bytes + count;
    for (at += 8; at < end && (*at == ' ' || *at == ':'); at++) continue;
    return end - at >= 4 && !memcmp(at, "true", 4);
}

static const struct serve_reply *choose(struct server *server, struct peer *peer) {
    const struct serve_settings *settings = server->settings;
    if (settings->in_turn) return settings->replies + peer->request % settings->reply_count;
    const uint8_t *line = memchr(peer->bytes, '\n', peer->whole);
    int streamed = asks_for_stream(peer->bytes, peer->whole);
    for (int64_t i = 0; i < settings->reply_count; i++) {
        const struct serve_reply *reply = settings->replies + i;
        if (reply->streamed >= 0 && reply->streamed != streamed) continue;
        if (memmem(peer->bytes, (size_t)(line - peer->bytes), reply->path, strlen(reply->path))) return reply;
    }
    return settings->replies + settings->reply_count - 1;
}

static int64_t number_of(struct server *server, const struct peer *peer) {
    const uint8_t *line = memchr(peer->bytes, '\n', peer->whole);
    const uint8_t *at = memmem(peer->bytes, (size_t)(line - peer->bytes), "request=", 8);
    int64_t number = 0, arrived = server->requests++;
    if (!at) return arrived;
    for (at += 8; *at >= '0' && *at <= '9' && number < INT64_MAX / 20; at++) number = number * 10 + (*at - '0');
    return number;
}

static void watch_writing(struct server *server, struct peer *peer, int writing) {
    struct epoll_event event = {.events = EPOLLIN | (writing ? EPOLLOUT : 0), .data.ptr = peer};
    epoll_ctl(server->poll, EPOLL_CTL_MOD, peer->fd, &event);
}

static int plan(struct server *server, struct peer *peer, int64_t due_ns) {
    if (!make_room((void **)&server->heap, &server->heap_room, server->heap_count + 1, sizeof(void *))) return 0;
    peer->due_ns = due_ns;
    place(server, server->heap_count++, peer);
    rise(server, server->heap_count - 1);
    return 1;
}

/* Sends every piece that is due. 0: the connection is to be dropped. */
static int send_pieces(struct server *server, struct peer *peer) {
    while (peer->reply) {
        if (peer->piece == peer->reply->count) {
            int64_t ending = peer->reply->ending;
            struct linger hard = {1, 0};
            if (ending == REPLY_RESET) setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
            if (ending != REPLY_KEEP) return 0;
            peer->reply = NULL;
            return 1;
        }
        const struct serve_piece *piece = peer->reply->pieces + peer->piece;
        if (!peer->offset) {
            if (piece->delay_ns > 0 && peer->due_ns == 0) return plan(server, peer, clock_ns() + piece->delay_ns);
            note(server, peer->request, peer->piece);
        }
        ssize_t sent = send(peer->fd, piece->bytes + peer->offset, (size_t)piece->count - peer->offset, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) return 0;
        if (sent > 0) peer->offset += (size_t)sent;
        if (peer->offset < (size_t)piece->count) {
            watch_writing(server, peer, 1);
            return 1;
        }
        peer->offset = 0;
        peer->due_ns = 0;
        peer->piece++;
    }
    return 1;
}

/* Answers the requests that have come whole. 0: the connection is to be dropped. */
static int answer(struct server *server, struct peer *peer) {
    while (!peer->reply && peer->count) {
        peer->whole = request_bytes(peer);
        if (!peer->whole || peer->count < peer->whole) return peer->count < MOST_REQUEST;
        peer->request = number_of(server, peer);
        note(server, peer->request, NONE);
        peer->reply = choose(server, peer);
        peer->piece = 0;
        peer->offset = 0;
        peer->due_ns = 0;
        memmove(peer->bytes, peer->bytes + peer->whole, peer->count - peer->whole);
        peer->count -= peer->whole;
        if (!send_pieces(server, peer)) return 0;
    }
    return 1;
}

static int take(struct server *server, struct peer *peer) {
    if (!make_room((void **)&peer->bytes, &peer->room, peer->count + READ_AT_ONCE, 1)) return 0;
    ssize_t got = recv(peer->fd, peer->bytes + peer->count, READ_AT_ONCE, 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return 0;
    peer->count += (size_t)got;
    return answer(server, peer);
}

static void welcome(struct server *server) {
    int fd;
    while ((fd = accept4((int)server->settings->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct peer *peer = calloc(1, sizeof *peer);
        if (!peer) {
            close(fd);
            return;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        peer->fd = fd;
        peer->heap_at = NONE;
        epoll_ctl(server->poll, EPOLL_CTL_ADD, fd, &(struct epoll_event){.events = EPOLLIN, .data.ptr = peer});
    }
}

static void send_due(struct server *server) {
    while (server->heap_count && server->heap[0]->due_ns <= clock_ns()) {
        struct peer *peer = server->heap[0];
        unplan(server, peer);
        if (!send_pieces(server, peer) || !answer(server, peer)) drop(server, peer);
    }
}

int http_serve(const struct serve_settings *settings) {
    struct server server = {.settings = settings, .poll = epoll_create1(EPOLL_CLOEXEC)};
    struct epoll_event events[PEERS_AT_ONCE];
    if (server.poll < 0) return errno;
    int listener = (int)settings->listener;
    if (epoll_ctl(server.poll, EPOLL_CTL_ADD, listener, &(struct epoll_event){.events = EPOLLIN})) return errno;
    while (!__atomic_load_n(settings->stop, __ATOMIC_RELAXED)) {
        int64_t wait = LONGEST_WAIT_NS;
        if (server.heap_count) wait = server.heap[0]->due_ns - clock_ns();
        wait = wait < 0 ? 0 : wait > LONGEST_WAIT_NS ? LONGEST_WAIT_NS : wait;
        struct timespec limit = {.tv_nsec = wait};
        int count = epoll_pwait2(server.poll, events, PEERS_AT_ONCE, &limit, NULL);
        if (count < 0 && errno != EINTR) return errno;
        for (int i = 0; i < count; i++) {
            struct peer *peer = events[i].data.ptr;
            if (!peer) {
                welcome(&server);
                continue;
            }
            int kept = 1;
            if (events[i].events & EPOLLOUT) {
                watch_writing(&server, peer, 0);
                kept = send_pieces(&server, peer) && answer(&server, peer);
            }
            if (kept && events[i].events & ~(uint32_t)EPOLLOUT) kept = take(&server, peer);
            if (!kept) drop(&server, peer);
        }
        send_due(&server);
    }
    return 0;
}
