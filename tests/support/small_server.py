"""A small HTTP server for tests of services: run it with flags that say how it behaves.

GET /health and / answer `ok`, /metrics a Prometheus page, /pid the process. After so many requests as
it is told it ends with code 3.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COUNT = 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--flag", default="")
    parser.add_argument("--start-s", type=float, default=0.0)
    parser.add_argument("--die-after", type=int, default=0, metavar="REQUESTS")
    parser.add_argument("--fail", action="store_true")
    parser.add_argument("--never-ready", action="store_true")
    parser.add_argument("--ignore-term", action="store_true")
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--eat-mb", type=int, default=0)
    args = parser.parse_args()
    print(f"starting with token {os.environ.get('SERVER_TOKEN', 'none')}")
    if args.ignore_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if args.child:
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    if args.fail:
        print("cannot load the model: no such file", file=sys.stderr)
        sys.exit(7)
    time.sleep(args.start_s)
    if args.never_ready:
        print("still loading")
        time.sleep(600)
    server = ThreadingHTTPServer(("127.0.0.1", args.port), handler(args.flag, args.die_after))
    print(f"listening on {args.port}")
    eaten = bytearray(args.eat_mb << 20)
    eaten[::4096] = b"x" * len(eaten[::4096])
    server.serve_forever()


def die() -> None:
    print("out of memory on the device", file=sys.stderr, flush=True)
    os._exit(3)


def handler(flag: str, most: int) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            global COUNT
            COUNT += 1
            body = {"/pid": str(os.getpid()), "/flag": flag, "/metrics": page()}.get(self.path, "ok")
            if most and most <= COUNT:
                die()
            self.send_response(503 if self.path == "/broken" else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *args: object) -> None: ...

    return Handler


def page() -> str:
    return f"""# HELP small:num_requests_waiting Requests that wait.
# TYPE small:num_requests_waiting gauge
small:num_requests_waiting{{engine="0",model_name="a \\"b\\""}} {COUNT % 3}
# TYPE small:requests_total counter
small:requests_total {COUNT}
# TYPE small:latency_seconds histogram
small:latency_seconds_bucket{{le="0.1"}} 1
small:latency_seconds_sum 2.5
small:latency_seconds_count {COUNT}
nonsense here and there
"""


if __name__ == "__main__":
    main()
