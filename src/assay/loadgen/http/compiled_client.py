from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import struct
from time import monotonic_ns, sleep
from typing import cast

import numpy as np
from numpy.typing import NDArray

from assay.errors import AssayError, UsageError
from assay.loadgen.http.compiled_structures import (
    ClientCounters,
    PlanStructure,
    Settings,
    SharedRows,
    address_of,
    functions,
    map_shared_page,
)
from assay.loadgen.http.exchanges import NEW, Exchange, Exchanges
from assay.loadgen.http.http_client import (
    Address,
    ClientLimits,
    Fault,
    HttpClient,
    OnEnd,
    RequestPlan,
    TargetUnreachable,
    resolve,
)
from assay.loadgen.http.target import Target
from assay.loadgen.sender import end_with_parent, precise_timers

_NEVER = (1 << 63) - 1
_LATER_ROWS = 1 << 22
"""Room for requests that are submitted one by one."""
_ENDED_AT_ONCE = 1024
_BY_FAILURES, _BY_ROOM = 2, 3
_LOOK_S = 0.005


class CompiledClient(HttpClient):
    name = "C"

    def __init__(self, target: Target, limits: ClientLimits, shared: bool = False) -> None:
        """`shared`: for `run_apart`, whose measurements this process sees."""
        loaded = functions()
        if loaded is None:
            raise AssayError("the compiled client is not there: Assay was installed without a C compiler")
        self._library = loaded
        self.target, self.limits = target, limits
        self._addresses = resolve(target)
        self.page = cast(ClientCounters, map_shared_page(ClientCounters))
        self._memory = SharedRows(limits.most_kept_bytes, shared)
        self._lent = False
        self._engine: int | None = None
        self._plan: RequestPlan | None = None
        self._kept: list[object] = []
        self._ended = (ctypes.c_int64 * _ENDED_AT_ONCE)()
        self._start_ns = 0
        _allow_sockets(limits.most_connections)

    def connect(self, count: int) -> None:
        count = max(1, min(count, self.limits.most_connections))
        if self._engine is not None and self._library.http_connect(self._engine, count):
            return
        for address in self._addresses:
            self._close_engine()
            self._open(address)
            if self._library.http_connect(self._engine, 1):
                self._addresses = [address, *(other for other in self._addresses if other != address)]
                self._library.http_connect(self._engine, count)
                return
        why = os.strerror(self.page.last_errno) if self.page.last_errno else Fault.CONNECT_TIMEOUT.sentence
        raise TargetUnreachable(f"{self.target.url}: no connection can be made: {why}. Is the server running?")

    def _open(self, address: Address) -> None:
        packed = _sockaddr(address)
        limits = self.limits
        settings = Settings(
            most_in_flight=limits.most_in_flight or 0,
            most_connections=limits.most_connections,
            connect_ns=_ns(limits.connect_s),
            idle_ns=_ns(limits.idle_s),
            total_ns=_ns(limits.total_s),
            most_answer_bytes=limits.most_answer_bytes,
            failures_in_a_row=limits.failures_in_a_row or 0,
            page=ctypes.addressof(self.page),
            address_bytes=len(packed),
        )
        ctypes.memmove(ctypes.addressof(settings) + Settings.address.offset, packed, len(packed))
        self._engine = self._library.http_open(ctypes.byref(settings))
        if self._engine is None:
            raise AssayError(f"the compiled client cannot start: {os.strerror(self.page.last_errno)}")
        self._give_memory()

    def _give_memory(self) -> None:
        memory = self._memory
        parts = [
            part for array in (memory.rows, memory.pieces, memory.bodies) for part in (address_of(array), len(array))
        ]
        self._library.http_memory(self._engine, *parts)

    def _ready(self) -> int:
        if self._engine is None:
            self._open(self._addresses[0])
        assert self._engine is not None
        return self._engine

    def submit_plan(self, plan: RequestPlan) -> None:
        if self._plan is not None or self.page.later:
            raise UsageError("a client takes one plan, before any other request")
        if plan.at_ns is None and self.limits.most_in_flight is None:
            raise UsageError("requests without times need a limit of requests in flight")
        engine = self._ready()
        if plan.count + _LATER_ROWS > len(self._memory.rows):
            self._memory.resize_rows(plan.count + _LATER_ROWS)
            self._give_memory()
        self._plan = plan
        messages = (ctypes.c_char_p * len(plan.messages))(*plan.messages)
        lengths = np.fromiter(map(len, plan.messages), np.int64, len(plan.messages))
        order = None if plan.order is None else np.ascontiguousarray(plan.order, np.int32)
        at_ns = None if plan.at_ns is None else np.ascontiguousarray(plan.at_ns, np.int64)
        self._kept += [plan.messages, messages, lengths, order, at_ns]
        structure = PlanStructure(
            messages=ctypes.addressof(messages),
            message_bytes=address_of(lengths),
            message_count=len(plan.messages),
            order=None if order is None else address_of(order),
            at_ns=None if at_ns is None else address_of(at_ns),
            count=plan.count,
            cancel_ns=_ns(plan.cancel_after_s),
            cancel_events=plan.cancel_after_events or 0,
            grouped=plan.grouped,
        )
        self._library.http_plan(engine, ctypes.byref(structure))

    def submit(
        self,
        message: bytes,
        at_ns: int | None = None,
        cancel_after_s: float | None = None,
        cancel_after_events: int | None = None,
    ) -> int:
        self._kept.append(message)
        at = -1 if at_ns is None else max(at_ns, 0)
        limits = (_ns(cancel_after_s), cancel_after_events or 0)
        number: int = self._library.http_submit(self._ready(), message, len(message), at, *limits)
        if number < 0:
            raise AssayError(f"a client takes at most {_LATER_ROWS:,} requests that are submitted one by one")
        return number

    def run(
        self,
        on_end: OnEnd | None = None,
        send_for_s: float | None = None,
        drain_s: float | None = None,
        start_ns: int | None = None,
    ) -> None:
        engine = self._ready()
        self.page.stop = self.page.ended_by = 0
        self._start_ns = start_ns or self._start_ns or monotonic_ns()
        send_until = _NEVER if send_for_s is None else self._start_ns + _ns(send_for_s)
        drain_until = _NEVER if send_for_s is None or drain_s is None else send_until + _ns(drain_s)
        notify = on_end is not None
        over = False
        while not over:
            over = bool(self._library.http_run(engine, self._start_ns, send_until, drain_until, notify))
            while on_end is not None and (count := self._library.http_ended(engine, self._ended, _ENDED_AT_ONCE)):
                for number in self._ended[:count]:
                    on_end(number)

    def run_apart(
        self,
        on_end: OnEnd | None = None,
        send_for_s: float | None = None,
        drain_s: float | None = None,
        start_ns: int | None = None,
    ) -> ApartRun:
        """The same in a process of its own, which is forked here and takes the connections with it.

        `page` shows how far it is. `on_end` runs there: what it changes in Python is not seen here.
        """
        if not self._memory.shared:
            raise UsageError("a run in a process of its own needs a client with shared memory")
        self._ready()
        self.page.stop = 0
        self._start_ns = start_ns or self._start_ns or monotonic_ns()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                end_with_parent()
                precise_timers()
                self.run(on_end, send_for_s, drain_s, self._start_ns)
                status = 0
            finally:
                os._exit(status)
        self._close_engine()
        return ApartRun(child, self)

    def stop(self) -> None:
        self.page.stop = 1

    def now_ns(self) -> int:
        return monotonic_ns() - self._start_ns

    def rows_now(self) -> NDArray[np.void]:
        """Rows of the requests that have become due so far, for a watcher; they still change."""
        count = self._plan.count if self._plan else 0
        if not self.page.later:
            return self._memory.rows[: self.page.plan_due]
        return self._memory.rows[: count + self.page.later]

    def answer(self, number: int) -> Exchange:
        return self._memory.exchange(number)

    def exchanges(self) -> Exchanges:
        rows = self.rows_now()
        rows = rows[rows["state"] != NEW]
        page, memory = self.page, self._memory
        self._lent = True
        return Exchanges(
            rows=rows,
            pieces=memory.pieces[: page.pieces],
            bodies=memory.bodies[: page.body_bytes],
            start_ns=self._start_ns,
            client=self.name,
            cpu_s=page.cpu_ns / 1e9,
            connections=page.connections,
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        if self.page.ended_by == _BY_FAILURES:
            most = self.limits.failures_in_a_row
            return (f"ended: {most} requests in a row got no answer",)
        if self.page.ended_by == _BY_ROOM:
            return (f"ended: the answers reached the limit of {len(self._memory.bodies):,} bytes kept",)
        return ()

    def forget(self) -> None:
        if self._lent:
            self._memory = SharedRows(self.limits.most_kept_bytes, self._memory.shared)
        else:
            self.rows_now()[:] = 0
        self._lent = False
        self._library.http_forget(self._ready())
        self._give_memory()
        self._plan = None
        self._kept.clear()

    def _close_engine(self) -> None:
        if self._engine is not None:
            self._library.http_close(self._engine)
            self._engine = None

    def close(self) -> None:
        self._close_engine()


class ApartRun:
    """A run in a process of its own."""

    def __init__(self, child: int, client: CompiledClient) -> None:
        self._child, self._client = child, client
        self._status: int | None = None

    def wait(self, timeout_s: float | None = None) -> bool:
        """True when the run is over; False when `timeout_s` has passed before. An interrupt ends the run first."""
        until = None if timeout_s is None else monotonic_ns() + _ns(timeout_s)
        try:
            while self._status is None and not self._reap(os.WNOHANG):
                if until is not None and monotonic_ns() >= until:
                    return False
                sleep(_LOOK_S)
        except KeyboardInterrupt:
            self._client.stop()
            self._reap(0)
            raise
        if self._status:
            raise AssayError(f"the process of the client ended with status {self._status}")
        return True

    def _reap(self, how: int) -> bool:
        if self._status is None:
            child, status = os.waitpid(self._child, how)
            if child:
                self._status = os.waitstatus_to_exitcode(status)
        return self._status is not None


def _ns(seconds: float | None) -> int:
    return 0 if seconds is None else int(seconds * 1e9)


def _sockaddr(address: Address) -> bytes:
    """The structure that connect(2) takes."""
    family, where = address
    if family == socket.AF_INET:
        return struct.pack("=H", family) + struct.pack("!H", where[1]) + socket.inet_aton(where[0]) + bytes(8)
    host, port, flow, scope = where
    packed = socket.inet_pton(socket.AF_INET6, host.partition("%")[0])
    return struct.pack("=H", family) + struct.pack("!HI", port, flow) + packed + struct.pack("=I", scope)


def _allow_sockets(wanted: int) -> None:
    """Raises the limit of open files as far as this process may, where it is below what the client may need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted + 256:
        most = wanted + 256 if hard == resource.RLIM_INFINITY else min(hard, wanted + 256)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
