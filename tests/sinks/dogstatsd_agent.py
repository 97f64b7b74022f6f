"""An agent's UDP port, and a reader of its datagrams written from the protocol's description, not from the client."""

from __future__ import annotations

import re
import socket
import threading
from dataclasses import dataclass

_METRIC = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9_.]{0,199}):(?P<value>[-+0-9.eE]+)\|(?P<type>c|g|ms|h|s|d)(?P<rest>.*)"
)
_EVENT = re.compile(r"_e\{(\d+),(\d+)\}:")


@dataclass(frozen=True)
class Gauge:
    name: str
    value: float
    tags: dict[str, str]


@dataclass(frozen=True)
class Event:
    title: str
    text: str
    fields: dict[str, str]
    tags: dict[str, str]


def parse(datagram: bytes) -> list[Gauge | Event]:
    assert len(datagram) <= 8192
    return [_line(line) for line in datagram.decode().split("\n") if line]


def _line(line: str) -> Gauge | Event:
    head = _EVENT.match(line)
    if head:
        body = line[head.end() :].encode()
        title, text = int(head[1]), int(head[2])
        assert body[title : title + 1] == b"|"
        rest = body[title + 1 + text :].decode()
        assert rest == "" or rest.startswith("|")
        fields, tags = _rest(rest)
        return Event(body[:title].decode(), body[title + 1 : title + 1 + text].decode(), fields, tags)
    metric = _METRIC.fullmatch(line)
    assert metric, line
    assert metric["type"] == "g"
    return Gauge(metric["name"], float(metric["value"]), _rest(metric["rest"])[1])


def _rest(rest: str) -> tuple[dict[str, str], dict[str, str]]:
    fields, tags = {}, {}
    for part in rest.split("|")[1:]:
        if part.startswith("#"):
            tags = dict(tag.split(":", 1) for tag in part[1:].split(","))
        else:
            key, _, value = part.partition(":")
            fields[key] = value
    return fields, tags


class Agent:
    def __init__(self, port: int = 0) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self._socket.bind(("127.0.0.1", port))
        self._socket.settimeout(0.1)
        self.port = int(self._socket.getsockname()[1])
        self.received: list[Gauge | Event] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()

    def _receive(self) -> None:
        while not self._ended.is_set():
            try:
                self.received += parse(self._socket.recv(65536))
            except TimeoutError:
                continue

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        self._socket.close()

    def events(self) -> list[Event]:
        return [item for item in self.received if isinstance(item, Event)]

    def gauges(self, name: str) -> list[Gauge]:
        return [item for item in self.received if isinstance(item, Gauge) and item.name == name]
