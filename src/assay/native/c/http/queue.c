#include <stdlib.h>
#include <string.h>

#include "http/engine.h"

/* Room for `wanted` things of `each` bytes, doubled so that growing stays cheap. 0: there is no memory. */
int make_room(void **memory, size_t *room, size_t wanted, size_t each) {
    if (wanted <= *room) return 1;
    size_t more = *room ? *room : 64;
    while (more < wanted) more *= 2;
    if (more > (SIZE_MAX >> 1) / each) return 0;
    void *grown = realloc(*memory, more * each);
    if (!grown) return 0;
    *memory = grown;
    *room = more;
    return 1;
}

int queue_put(struct queue *queue, int64_t number) {
    if (queue->count == queue->room) {
        size_t old = queue->room;
        if (!make_room((void **)&queue->numbers, &queue->room, old + 1, sizeof *queue->numbers)) return 0;
        /* What had wrapped around goes behind the old end; the new room is at least as large. */
        memcpy(queue->numbers + old, queue->numbers, queue->first * sizeof *queue->numbers);
    }
    size_t at = queue->first + queue->count++;
    queue->numbers[at >= queue->room ? at - queue->room : at] = number;
    return 1;
}

int64_t queue_take(struct queue *queue) {
    int64_t number = queue->numbers[queue->first];
    queue->first = queue->first + 1 == queue->room ? 0 : queue->first + 1;
    queue->count--;
    return number;
}

static int before(struct engine *engine, int64_t a, int64_t b) {
    int64_t at_a = later_of(engine, a)->at_ns, at_b = later_of(engine, b)->at_ns;
    return at_a < at_b || (at_a == at_b && a < b);
}

int heap_put(struct engine *engine, int64_t number) {
    size_t room = (size_t)engine->waiting_room;
    if (!make_room((void **)&engine->waiting, &room, (size_t)engine->waiting_count + 1, sizeof *engine->waiting))
        return 0;
    engine->waiting_room = (int64_t)room;
    int64_t at = engine->waiting_count++;
    while (at && before(engine, number, engine->waiting[(at - 1) / 2])) {
        engine->waiting[at] = engine->waiting[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    engine->waiting[at] = number;
    return 1;
}

int64_t heap_take(struct engine *engine) {
    int64_t *heap = engine->waiting, first = heap[0], last = heap[--engine->waiting_count], at = 0;
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= engine->waiting_count) break;
        if (child + 1 < engine->waiting_count && before(engine, heap[child + 1], heap[child])) child++;
        if (!before(engine, heap[child], last)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}
