"""The client in plain Python. One thread, one selector, every connection non-blocking."""

from __future__ import annotations

import heapq
import selectors
import time
from collections import deque
from time import monotonic_ns

from assay.errors import UsageError
from assay.loadgen.http.exchanges import DUE, ENDED, IN_FLIGHT, NEW, Exchange, Exchanges
from assay.loadgen.http.http_client import (
    ClientLimits,
    Fault,
    HttpClient,
    OnEnd,
    RequestPlan,
    TargetUnreachable,
    fault_of_status,
    resolve,
)
from assay.loadgen.http.plain_connection import NOBODY, Phase, PlainConnection, PlainRequest, request_rows
from assay.loadgen.http.response_reader import State
from assay.loadgen.http.target import Target

_LONGEST_WAIT_NS = 50_000_000
_MOST_ATTEMPTS = 3
_LONG_IDLE_NS = 1_000_000_000


class PlainClient(HttpClient):
    name = "Python"

    def __init__(self, target: Target, limits: ClientLimits) -> None:
        self.target, self.limits = target, limits
        self._addresses = resolve(target)
        self._tls = target.tls()
        self._selector = selectors.DefaultSelector()
        self._connections: dict[int, PlainConnection] = {}
        self._idle: list[PlainConnection] = []
        self._made = 0
        self._opening = 0
        self._start_ns = 0
        self._cpu_s = 0.0
        self._stopped = False
        self._last_error = ""
        self._begin()

    def _begin(self) -> None:
        self._plan: RequestPlan | None = None
        self._cursor = 0
        self._group_left = 0
        self._messages: list[bytes] = []
        self._later: list[PlainRequest] = []
        self._requests: dict[int, PlainRequest] = {}
        self._due: deque[PlainRequest] = deque()
        self._again: deque[PlainRequest] = deque()
        self._waiting: list[tuple[int, int]] = []
        self._in_flight = 0
        self._freed_ns: deque[int] = deque()
        self._kept_bytes = 0
        self._failures = 0
        self._notes: list[str] = []

    def connect(self, count: int) -> None:
        count = min(count, self.limits.most_connections)
        fault = Fault.NONE
        for address in [self._addresses[0]] if count == 0 else self._addresses:
            self._addresses = [address, *(other for other in self._addresses if other != address)]
            fault = self._connect_first()
            if fault == Fault.NONE:
                break
        if fault != Fault.NONE:
            why = self._last_error or fault.sentence
            raise TargetUnreachable(f"{self.target.url}: no connection can be made: {why}. Is the server running?")
        for _ in range(count - 1):
            self._open()
        limit = monotonic_ns() + int(self.limits.connect_s * 1e9)
        while self._opening and monotonic_ns() < limit:
            self._poll(monotonic_ns() + _LONGEST_WAIT_NS)

    def _connect_first(self) -> Fault:
        connection = self._open()
        limit = monotonic_ns() + int(self.limits.connect_s * 1e9)
        while connection.connecting:
            self._poll(limit)
            if monotonic_ns() >= limit and connection.connecting:
                self._lose(connection)
                self._last_error = f"no answer within {self.limits.connect_s:g} s"
                return Fault.CONNECT_TIMEOUT
        return Fault.NONE if connection.phase == Phase.IDLE else Fault.REFUSED

    def submit_plan(self, plan: RequestPlan) -> None:
        if self._plan is not None or self._requests:
            raise UsageError("a client takes one plan, before any other request")
        if plan.at_ns is None and self.limits.most_in_flight is None:
            raise UsageError("requests without times need a limit of requests in flight")
        self._plan = plan
        self._messages = list(plan.messages)

    def submit(
        self,
        message: bytes,
        at_ns: int | None = None,
        cancel_after_s: float | None = None,
        cancel_after_events: int | None = None,
    ) -> int:
        number = (self._plan.count if self._plan else 0) + len(self._later)
        self._messages.append(message)
        made = PlainRequest(number, len(self._messages) - 1, _ns(cancel_after_s), cancel_after_events or 0)
        self._later.append(made)
        self._requests[number] = made
        if at_ns is None:
            self._due.append(made)
            made.state = DUE
        else:
            heapq.heappush(self._waiting, (at_ns, number))
        return number

    def run(
        self,
        on_end: OnEnd | None = None,
        send_for_s: float | None = None,
        drain_s: float | None = None,
        start_ns: int | None = None,
    ) -> None:
        self._on_end = on_end
        self._stopped = False
        self._start_ns = start_ns or self._start_ns or monotonic_ns()
        self._send_until = self._start_ns + _ns(send_for_s) if send_for_s is not None else None
        self._drain_until = None if self._send_until is None or drain_s is None else self._send_until + _ns(drain_s)
        cpu = time.process_time()
        try:
            while not self._over():
                self._dispatch()
                if not self._over():
                    self._poll(self._wake_ns())
                    self._end_late(monotonic_ns())
        finally:
            self._cpu_s += time.process_time() - cpu
        self._end_rest()

    def stop(self) -> None:
        self._stopped = True

    def now_ns(self) -> int:
        return monotonic_ns() - self._start_ns

    def answer(self, number: int) -> Exchange:
        return self._collect([self._requests[number]])[0]

    def exchanges(self) -> Exchanges:
        return self._collect([made for _, made in sorted(self._requests.items()) if made.state != NEW])

    def forget(self) -> None:
        self._begin()

    def close(self) -> None:
        for connection in list(self._connections.values()):
            self._lose(connection)
        self._selector.close()

    # What is due, and on which connection it goes

    def _over(self) -> bool:
        if self._stopped:
            return True
        if self._in_flight:
            return self._drain_until is not None and monotonic_ns() >= self._drain_until
        if self._send_until is not None and monotonic_ns() >= self._send_until:
            return True
        planned = self._plan is not None and self._cursor < self._plan.count
        return not (planned or self._due or self._again or self._waiting)

    def _dispatch(self) -> None:
        now = monotonic_ns()
        if self._send_until is not None and now >= self._send_until:
            return
        self._make_due(now)
        while self._due or self._again:
            if self._full():
                return
            connection = self._idle.pop() if self._idle else None
            if connection is None:
                wanted = len(self._due) + len(self._again)
                room = self.limits.most_connections - len(self._connections)
                for _ in range(min(wanted - self._opening, room)):
                    self._open()
                return
            self._send((self._again or self._due).popleft(), connection)
            self._make_due(monotonic_ns())

    def _full(self) -> bool:
        return self.limits.most_in_flight is not None and self._in_flight >= self.limits.most_in_flight

    def _make_due(self, now: int) -> None:
        plan = self._plan
        while self._waiting and self._start_ns + self._waiting[0][0] <= now:
            at, number = heapq.heappop(self._waiting)
            self._be_due(self._requests[number], self._start_ns + at)
        if plan is None:
            return
        if plan.at_ns is not None:
            while self._cursor < plan.count and self._start_ns + plan.at_ns[self._cursor] <= now:
                self._be_due(self._next(plan), self._start_ns + int(plan.at_ns[self._cursor - 1]))
            return
        most = self.limits.most_in_flight or 1
        if plan.grouped and self._group_left == 0 and not self._in_flight and not self._due:
            self._group_left = most
        free = self._group_left if plan.grouped else most - self._in_flight - len(self._due) - len(self._again)
        while free > 0 and self._cursor < plan.count:
            self._be_due(self._next(plan), self._freed_ns.popleft() if self._freed_ns else max(self._start_ns, now))
            free -= 1
            self._group_left = max(0, self._group_left - 1)

    def _next(self, plan: RequestPlan) -> PlainRequest:
        number = self._cursor
        self._cursor += 1
        cancel_ns, events = _ns(plan.cancel_after_s), plan.cancel_after_events or 0
        made = self._requests[number] = PlainRequest(number, plan.message_of(number), cancel_ns, events)
        return made

    def _be_due(self, made: PlainRequest, intended_ns: int) -> None:
        made.intended_ns = intended_ns
        made.state = DUE
        self._due.append(made)

    def _send(self, made: PlainRequest, connection: PlainConnection) -> None:
        now = monotonic_ns()
        made.intended_ns = made.intended_ns or now
        made.sent_ns = made.sent_ns or now
        made.attempts += 1
        made.connection = connection.number
        made.state = IN_FLIGHT
        self._in_flight += 1
        message = self._messages[made.message]
        connection.begin(made.number, message, message.startswith(b"HEAD "))
        connection.send()
        if connection.wants_write:
            self._watch(connection)

    # Connections

    def _open(self) -> PlainConnection:
        connection = PlainConnection(self._made, self._addresses[0], self._tls, self.target.host)
        self._made += 1
        self._opening += 1
        self._connections[connection.number] = connection
        self._selector.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE, connection)
        return connection

    def _watch(self, connection: PlainConnection) -> None:
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if connection.wants_write else 0)
        self._selector.modify(connection, wanted, connection)

    def _lose(self, connection: PlainConnection) -> None:
        if connection.connecting:
            self._opening -= 1
        if connection in self._idle:
            self._idle.remove(connection)
        self._connections.pop(connection.number, None)
        self._selector.unregister(connection)
        connection.close()

    def _poll(self, until_ns: int) -> None:
        wait = max(0, min(until_ns - monotonic_ns(), _LONGEST_WAIT_NS)) / 1e9
        for key, events in self._selector.select(wait):
            connection: PlainConnection = key.data
            if connection.connecting:
                self._advance(connection)
                continue
            if events & selectors.EVENT_WRITE and connection.unsent:
                connection.send()
                if not connection.wants_write:
                    self._watch(connection)
            if events & selectors.EVENT_READ and connection.phase != Phase.CLOSED:
                self._receive(connection)
                while connection.phase == Phase.BUSY and connection.pending():
                    self._receive(connection)

    def _advance(self, connection: PlainConnection) -> None:
        fault = connection.advance()
        if fault != Fault.NONE:
            self._last_error = connection.error
            self._lose(connection)
            self._fail_due(fault)
        elif connection.phase == Phase.IDLE:
            self._opening -= 1
            connection.wants_write = False
            self._watch(connection)
            self._idle.append(connection)
        else:
            self._watch(connection)

    def _fail_due(self, fault: Fault) -> None:
        """A connection that could not be made fails the request that has waited longest for one."""
        queue = self._again or self._due
        if queue and not self._idle and len(self._due) + len(self._again) > self._opening:
            made = queue.popleft()
            made.sent_ns = made.sent_ns or monotonic_ns()
            made.attempts += 1
            self._in_flight += 1
            self._finish(made, fault, monotonic_ns())

    # Answers

    def _receive(self, connection: PlainConnection) -> None:
        got = connection.receive()
        now = monotonic_ns()
        if got is None:
            return
        connection.last_ns = now
        if connection.request == NOBODY:
            # Closed by the server while idle; bytes that nobody asked for make it unusable too.
            self._lose(connection)
            return
        made = self._requests[connection.request]
        reader = connection.reader
        if isinstance(got, Fault) or not got:
            self._end_closed(connection, made, got if isinstance(got, Fault) else None, now)
            return
        made.first_byte_ns = made.first_byte_ns or now
        before = len(reader.body)
        taken = reader.feed(got)
        if len(reader.body) > before:
            connection.piece_ns.append(now)
            connection.piece_end.append(len(reader.body))
        if reader.state == State.MALFORMED:
            self._end_exchange(connection, made, Fault.MALFORMED, now, keep=False)
        elif reader.state == State.DONE:
            keep = reader.keep_alive and taken == len(got) and not connection.unsent
            self._end_exchange(connection, made, fault_of_status(reader.status), now, keep)
        elif len(reader.body) > self.limits.most_answer_bytes:
            self._end_exchange(connection, made, Fault.TOO_LARGE, now, keep=False)
        elif made.cancel_events and _events(reader.body) >= made.cancel_events:
            self._end_exchange(connection, made, Fault.CANCELLED, now, keep=False)

    def _end_closed(self, connection: PlainConnection, made: PlainRequest, fault: Fault | None, now: int) -> None:
        reader = connection.reader
        reader.feed_end()
        if reader.state == State.DONE and fault is None:
            self._end_exchange(connection, made, fault_of_status(reader.status), now, keep=False)
        elif not made.first_byte_ns and self._was_idle(connection, made) and made.attempts < _MOST_ATTEMPTS:
            # A kept-alive connection that the server had given up meanwhile: the request was not looked at.
            self._lose(connection)
            self._in_flight -= 1
            self._again.append(made)
        elif not made.first_byte_ns:
            self._end_exchange(connection, made, fault or Fault.CLOSED, now, keep=False)
        else:
            self._end_exchange(connection, made, fault or Fault.CUT, now, keep=False)

    def _was_idle(self, connection: PlainConnection, made: PlainRequest) -> bool:
        return connection.served > 0 or made.sent_ns - connection.opened_ns > _LONG_IDLE_NS

    def _end_exchange(
        self, connection: PlainConnection, made: PlainRequest, fault: Fault, now: int, keep: bool
    ) -> None:
        made.body = bytes(connection.reader.body)
        made.piece_ns, made.piece_end = connection.piece_ns, connection.piece_end
        made.status = connection.reader.status
        made.event_stream = connection.reader.event_stream
        self._kept_bytes += len(made.body)
        if keep:
            connection.end_request()
            self._idle.append(connection)
        else:
            self._lose(connection)
        self._finish(made, fault, now)

    def _finish(self, made: PlainRequest, fault: Fault, now: int) -> None:
        made.end_ns, made.fault, made.state = now, fault, ENDED
        self._in_flight -= 1
        self._freed_ns.append(now)
        self._failures = 0 if made.status else self._failures + 1
        most = self.limits.failures_in_a_row
        if most is not None and self._failures >= most:
            self._notes.append(f"ended: {self._failures} requests in a row got no answer; the last: {fault.sentence}")
            self._stopped = True
        if self._kept_bytes >= self.limits.most_kept_bytes:
            self._notes.append(f"ended: the answers reached the limit of {self.limits.most_kept_bytes:,} bytes kept")
            self._stopped = True
        if self._on_end is not None:
            self._on_end(made.number)

    # Time

    def _wake_ns(self) -> int:
        wake = monotonic_ns() + _LONGEST_WAIT_NS
        if self._waiting and not self._full():
            wake = min(wake, self._start_ns + self._waiting[0][0])
        plan = self._plan
        if plan is not None and plan.at_ns is not None and self._cursor < plan.count:
            wake = min(wake, self._start_ns + int(plan.at_ns[self._cursor]))
        for connection in self._connections.values():
            if connection.request != NOBODY:
                wake = min(wake, self._deadline(connection)[0])
        return min(wake, *(until for until in (self._send_until, self._drain_until, wake) if until is not None))

    def _deadline(self, connection: PlainConnection) -> tuple[int, Fault]:
        made = self._requests[connection.request]
        limits = [
            (connection.last_ns + _ns(self.limits.idle_s), Fault.IDLE_TIMEOUT),
            (made.sent_ns + _ns(self.limits.total_s), Fault.TOTAL_TIMEOUT),
        ]
        if made.cancel_ns:
            limits.append((made.sent_ns + made.cancel_ns, Fault.CANCELLED))
        return min(limits)

    def _end_late(self, now: int) -> None:
        for connection in list(self._connections.values()):
            if connection.request != NOBODY:
                deadline, fault = self._deadline(connection)
                if now >= deadline:
                    self._end_exchange(connection, self._requests[connection.request], fault, now, keep=False)
            elif connection.connecting and now >= connection.opened_ns + _ns(self.limits.connect_s):
                self._lose(connection)
                self._fail_due(Fault.CONNECT_TIMEOUT)

    def _end_rest(self) -> None:
        """The run is over: what is in flight is unfinished; what was due by its schedule was never sent."""
        now = monotonic_ns()
        self._on_end = None
        for connection in list(self._connections.values()):
            if connection.request != NOBODY:
                made = self._requests[connection.request]
                self._end_exchange(connection, made, Fault.UNFINISHED, now, keep=False)
        upto = min(now, self._send_until) if self._send_until is not None else now
        self._make_due(upto)
        closed = self._plan is not None and self._plan.at_ns is None
        for made in [*self._again, *self._due]:
            made.fault, made.state = Fault.NEVER_SENT, NEW if closed and not made.sent_ns else ENDED
            made.end_ns = now
        self._due.clear()
        self._again.clear()
        self._freed_ns.clear()

    def _collect(self, requests: list[PlainRequest]) -> Exchanges:
        rows, pieces, bodies = request_rows(requests)
        return Exchanges(
            rows=rows,
            pieces=pieces,
            bodies=bodies,
            start_ns=self._start_ns,
            client=self.name,
            cpu_s=self._cpu_s,
            connections=self._made,
            notes=tuple(self._notes),
        )


def _ns(seconds: float | None) -> int:
    return 0 if seconds is None else int(seconds * 1e9)


def _events(body: bytearray) -> int:
    """Server-sent events that are complete: an empty line ends one."""
    return body.count(b"\n\n") + body.count(b"\r\n\r\n")
