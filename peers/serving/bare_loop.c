/* The least that a client of streamed answers can do: epoll, recv, clock, and the next request when an answer has ended.
   It reads nothing of what comes but its last bytes, and keeps nothing. Usage: bare_loop PORT REQUESTS IN_FLIGHT */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char request[] = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                              "Content-Length: 16\r\n\r\n{\"stream\": true}";
static const char end[] = "0\r\n\r\n";

int main(int count, char **words) {
    if (count != 4) return 2;
    long left = atol(words[2]), in_flight = atol(words[3]), flying = 0, seen = 0;
    int poll = epoll_create1(0);
    static char bytes[65536];
    struct epoll_event events[64];
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[1]))};
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (long i = 0; i < in_flight && left; i++, left--, flying++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&where, sizeof where)) return 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        epoll_ctl(poll, EPOLL_CTL_ADD, fd, &(struct epoll_event){.events = EPOLLIN, .data.fd = fd});
        if (send(fd, request, sizeof request - 1, 0) < 0) return 1;
    }
    while (flying) {
        int ready = epoll_wait(poll, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            struct timespec now;
            ssize_t got = recv(events[i].data.fd, bytes, sizeof bytes, 0);
            clock_gettime(CLOCK_MONOTONIC, &now);
            if (got <= 0) return 1;
            seen += now.tv_nsec & 1;
            if (got < 5 || memcmp(bytes + got - 5, end, 5)) continue;
            flying--;
            if (left) {
                if (send(events[i].data.fd, request, sizeof request - 1, 0) < 0) return 1;
                left--, flying++;
            }
        }
    }
    return seen < 0;
}
