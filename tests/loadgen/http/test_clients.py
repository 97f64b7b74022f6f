"""Both clients against a server that answers by a script: what is measured, and every way an answer goes wrong."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Sequence

import numpy as np
import pytest

from assay.errors import UsageError
from assay.loadgen.http.compiled_client import CompiledClient
from assay.loadgen.http.exchanges import Exchanges
from assay.loadgen.http.http_client import ClientLimits, Fault, HttpClient, RequestPlan, TargetUnreachable
from assay.loadgen.http.plain_client import PlainClient
from assay.loadgen.http.server import (
    DONE,
    STREAM_END,
    STREAM_HEAD,
    ConnectionEnding,
    ScriptedReply,
    ScriptedServer,
    answer,
    chat_event,
    null_replies,
)
from assay.loadgen.http.target import Target

CLIENTS = [PlainClient, CompiledClient]
OK = answer("200 OK", b"{}")
clients = pytest.mark.parametrize("client_class", CLIENTS)
ClientClass = type[PlainClient] | type[CompiledClient]
EVENT = chat_event({"content": "x"})


def messages(target: Target, count: int) -> list[bytes]:
    return [target.message(f"/v1/chat/completions?request={number}", b'{"stream": true}') for number in range(count)]


def run_plan(
    client_class: ClientClass, replies: Sequence[ScriptedReply], count: int, limits: ClientLimits, **plan: object
) -> Exchanges:
    with ScriptedServer(replies, in_turn=True) as server:
        target = Target.parse(server.url)
        with client_class(target, limits) as client:
            client.connect(limits.most_in_flight or 1)
            client.submit_plan(RequestPlan(messages(target, count), count, **plan))  # type: ignore[arg-type]
            client.run()
            return client.exchanges()


def most_at_once(found: Exchanges) -> int:
    sent, ended = np.sort(found.rows["sent_ns"]), np.sort(found.rows["end_ns"])
    return int(max(np.arange(1, len(sent) + 1) - np.searchsorted(ended, sent, side="right")))


@clients
def test_a_closed_loop_keeps_its_number_in_flight(client_class: ClientClass) -> None:
    found = run_plan(client_class, [ScriptedReply([(0.002, OK)])], 40, ClientLimits(most_in_flight=4))
    assert found.faults() == {Fault.NONE: 40}
    assert (most_at_once(found), found.connections, found.client) == (4, 4, client_class.name)
    rows = found.rows
    assert rows["message"].tolist() == list(range(40))
    assert np.all(rows["intended_ns"] <= rows["sent_ns"])
    assert np.all(rows["sent_ns"] < rows["first_byte_ns"])
    # A slot is due again when its last answer has come: the intended time is the end of an earlier request.
    assert set(rows["intended_ns"][4:]) <= set(rows["end_ns"])


@clients
def test_a_group_goes_out_when_all_of_the_last_one_have_ended(client_class: ClientClass) -> None:
    replies = [ScriptedReply([(delay, OK)]) for delay in (0.001, 0.001, 0.02)]
    rows = run_plan(client_class, replies, 9, ClientLimits(most_in_flight=3), grouped=True).rows
    for group in (3, 6):
        assert rows["sent_ns"][group : group + 3].min() >= rows["end_ns"][group - 3 : group].max()


@clients
def test_an_open_loop_keeps_intended_times_though_the_cap_holds_sends_back(client_class: ClientClass) -> None:
    at = np.arange(20, dtype=np.int64) * 1_000_000
    limits = ClientLimits(most_in_flight=2)
    found = run_plan(client_class, [ScriptedReply([(0.010, OK)])], 20, limits, at_ns=at)
    rows = found.rows
    assert (rows["intended_ns"] - found.start_ns).tolist() == at.tolist()
    assert most_at_once(found) <= 2
    # Two at a time, 10 ms each: the last goes out after nine rounds, though it was meant for 19 ms.
    assert rows["sent_ns"][-1] - found.start_ns >= 90_000_000


ENDLESS = [(0.01, EVENT)] * 1000
FAULTS = {
    "ok": (ScriptedReply([(0, OK)]), Fault.NONE),
    "moved": (ScriptedReply([(0, answer("302 Found", b""))]), Fault.STATUS_3XX),
    "unauthorized": (ScriptedReply([(0, answer("401 Unauthorized", b"no"))]), Fault.STATUS_4XX),
    "overloaded": (ScriptedReply([(0, answer("503 Service Unavailable", b"later"))]), Fault.STATUS_5XX),
    "cut length": (ScriptedReply([(0, answer("200 OK", b"12345")[:-2])], ConnectionEnding.CLOSE), Fault.CUT),
    "cut stream": (ScriptedReply([(0, STREAM_HEAD + EVENT), (0.001, EVENT)], ConnectionEnding.CLOSE), Fault.CUT),
    "reset": (ScriptedReply([(0, STREAM_HEAD + EVENT), (0.02, EVENT[:4])], ConnectionEnding.RESET), Fault.RESET),
    "closed": (ScriptedReply([], ConnectionEnding.CLOSE), Fault.CLOSED),
    "not HTTP": (ScriptedReply([(0, b"220 mail.example ESMTP\r\n")]), Fault.MALFORMED),
    "bad chunk": (ScriptedReply([(0, STREAM_HEAD + EVENT + b"zz\r\n")]), Fault.MALFORMED),
    "huge chunk": (ScriptedReply([(0, STREAM_HEAD + b"ffffffffffffffffff\r\n")]), Fault.MALFORMED),
    "endless head": (ScriptedReply([(0, b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20_000)]), Fault.MALFORMED),
    "too large": (ScriptedReply([(0, answer("200 OK", bytes(300_000)))]), Fault.TOO_LARGE),
    "silent": (ScriptedReply([(0, STREAM_HEAD + EVENT), (30, EVENT)]), Fault.IDLE_TIMEOUT),
    "head never ends": (ScriptedReply([(0, b"HTTP/1.1 200 OK\r\nA"), (30, b"")]), Fault.IDLE_TIMEOUT),
    "never ends": (ScriptedReply([(0, STREAM_HEAD), *ENDLESS]), Fault.TOTAL_TIMEOUT),
}


WAITS = {Fault.IDLE_TIMEOUT: {"idle_s": 0.3}, Fault.TOTAL_TIMEOUT: {"total_s": 0.6}}
"""Limits that only the faults have which they cause: a busy machine may be silent for as long as a broken server."""


@clients
def test_every_fault_has_its_kind_and_nothing_hangs(client_class: ClientClass) -> None:
    kinds, kept = {}, {}
    for waited in (None, *WAITS):
        named = {name: reply for name, (reply, fault) in FAULTS.items() if WAITS.get(fault) == WAITS.get(waited)}
        limits = ClientLimits(most_in_flight=16, most_answer_bytes=200_000, **WAITS.get(waited, {}))
        found = run_plan(client_class, list(named.values()), len(named), limits)
        kinds |= {name: Fault(row["fault"]) for name, row in zip(named, found.rows, strict=True)}
        kept |= dict(zip(named, found, strict=True))
        assert set(found.rows["attempts"]) == {1}
    assert kinds == {name: fault for name, (_, fault) in FAULTS.items()}
    # What came before the fault is kept.
    assert kept["cut stream"].body.count(b"data:") == 2
    assert kept["cut length"].body == b"123"
    assert len(kept["never ends"].pieces) > 1


@clients
def test_a_request_is_cancelled_after_events_or_time(client_class: ClientClass) -> None:
    stream = ScriptedReply([(0, STREAM_HEAD + EVENT), *[(0.005, EVENT)] * 400])
    found = run_plan(client_class, [stream], 3, ClientLimits(most_in_flight=3), cancel_after_events=5)
    assert found.faults() == {Fault.CANCELLED: 3}
    # One receipt may bring more than one event where the client was held up: it ends with the one that has the fifth.
    assert all(5 <= exchange.body.count(b"data:") < 40 for exchange in found)
    found = run_plan(client_class, [stream], 2, ClientLimits(most_in_flight=2), cancel_after_s=0.05)
    assert found.faults() == {Fault.CANCELLED: 2}
    assert np.all(found.rows["end_ns"] - found.rows["sent_ns"] >= 50_000_000)
    assert not Fault.CANCELLED.wrong


@clients
def test_a_kept_connection_that_the_server_gave_up_is_tried_again_and_said_so(client_class: ClientClass) -> None:
    # The second request on each connection is closed without an answer, as when a keep-alive limit has run out.
    replies = [ScriptedReply([(0, OK)]), ScriptedReply([], ConnectionEnding.CLOSE)]
    with ScriptedServer(replies, in_turn=True) as server:
        target = Target.parse(server.url)
        with client_class(target, ClientLimits(most_in_flight=1)) as client:
            client.connect(1)
            client.submit_plan(RequestPlan([target.message("/", b"x")], 3))
            client.run()
            found = client.exchanges()
    assert found.faults() == {Fault.NONE: 3}
    assert found.rows["attempts"].tolist() == [1, 2, 2]
    assert found.connections == 3


@clients
def test_a_conversation_goes_on_when_its_last_turn_has_ended(client_class: ClientClass) -> None:
    with ScriptedServer(null_replies(4)) as server:
        target = Target.parse(server.url)
        with client_class(target, ClientLimits(most_in_flight=2)) as client:
            client.connect(2)
            bodies: list[bytes] = []

            def next_turn(number: int) -> None:
                bodies.append(client.answer(number).body)
                if len(bodies) < 6:
                    message = target.message("/v1/chat/completions", b'{"stream": true}')
                    client.submit(message, at_ns=client.now_ns() + 2_000_000)

            client.submit(target.message("/v1/chat/completions", b'{"stream": true}'), at_ns=0)
            client.run(on_end=next_turn)
            rows = client.exchanges().rows
    assert len(rows) == 6
    assert all(b"word3" in body for body in bodies)
    assert np.all(rows["intended_ns"][1:] >= rows["end_ns"][:-1] + 2_000_000)


@clients
def test_a_run_that_is_ended_says_what_was_not_sent_and_not_answered(client_class: ClientClass) -> None:
    at = np.arange(100, dtype=np.int64) * 10_000_000
    with ScriptedServer([ScriptedReply([(30, OK)])]) as server:
        target = Target.parse(server.url)
        with client_class(target, ClientLimits(most_in_flight=2)) as client:
            client.connect(2)
            client.submit_plan(RequestPlan(messages(target, 1), 100, at_ns=at))
            client.run(send_for_s=0.095, drain_s=0.05)
            assert client.exchanges().faults() == {Fault.UNFINISHED: 2, Fault.NEVER_SENT: 8}
            client.forget()
            client.submit_plan(RequestPlan(messages(target, 1), 1_000_000))
            timer = threading.Timer(0.1, client.stop)
            timer.start()
            client.run()
            timer.join()
            assert client.exchanges().faults() == {Fault.UNFINISHED: 2}


@clients
def test_a_server_that_is_gone_ends_the_run_after_failures_in_a_row(client_class: ClientClass) -> None:
    def stop_after_some_answers() -> None:
        while len(server.log()) < 100:
            time.sleep(0.001)
        server.stop()

    with ScriptedServer([ScriptedReply([(0, OK)])], log_room=100) as server:
        target = Target.parse(server.url)
        client: HttpClient = client_class(target, ClientLimits(most_in_flight=2, failures_in_a_row=20))
        client.connect(2)
        client.submit_plan(RequestPlan(messages(target, 1), 1_000_000))
        stopping = threading.Thread(target=stop_after_some_answers)
        stopping.start()
        client.run()
        stopping.join()
        found = client.exchanges()
        client.close()
    faults = found.faults()
    assert faults[Fault.NONE] > 0
    assert faults[Fault.REFUSED] > 0
    assert "requests in a row got no answer" in found.notes[0]


@clients
def test_one_request_and_its_answer(client_class: ClientClass) -> None:
    with ScriptedServer(null_replies(3)) as server:
        target = Target.parse(server.url + "/v1/")
        with client_class(target, ClientLimits()) as client:
            for _ in range(3):
                found = client.exchange(target.message("/chat/completions", b'{"messages": []}'))
                assert (found.status, found.fault) == (200, Fault.NONE)
                assert b"word2" in found.body
            assert len(client.exchanges()) == 0


@clients
def test_no_connection_is_one_message(client_class: ClientClass) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with (
        client_class(Target.parse(f"http://127.0.0.1:{port}"), ClientLimits()) as client,
        pytest.raises(
            TargetUnreachable, match=r"no connection can be made: Connection refused\. Is the server running\?"
        ),
    ):
        client.connect(4)
    with pytest.raises(TargetUnreachable, match=r"the host 'no-such-host\.invalid' is not known"):
        client_class(Target.parse("http://no-such-host.invalid/v1"), ClientLimits())


@clients
def test_requests_without_times_need_a_cap(client_class: ClientClass) -> None:
    with client_class(Target.parse("http://127.0.0.1:1"), ClientLimits()) as client, pytest.raises(UsageError):
        client.submit_plan(RequestPlan([b"GET / HTTP/1.1\r\n\r\n"], 1))


def test_a_run_in_a_process_of_its_own_measures_the_same() -> None:
    with ScriptedServer(null_replies(4, 0.001)) as server:
        target = Target.parse(server.url)
        with CompiledClient(target, ClientLimits(most_in_flight=4), shared=True) as client:
            client.connect(4)
            client.submit_plan(RequestPlan(messages(target, 1), 50))
            run = client.run_apart()
            assert run.wait(30)
            found = client.exchanges()
    assert found.faults() == {Fault.NONE: 50}
    assert all(exchange.body.endswith(b"[DONE]\n\n") for exchange in found)
    assert DONE + STREAM_END not in found[0].body
