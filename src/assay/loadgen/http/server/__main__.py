"""The null server by itself: python -m assay.loadgen.http.server --tokens 32 --gap-ms 2"""

from __future__ import annotations

import argparse

from assay.loadgen.http.server.openai_replies import null_replies
from assay.loadgen.http.server.scripted_server import ScriptedServer


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m assay.loadgen.http.server", description=__doc__)
    parser.add_argument("--tokens", type=int, default=32, help="tokens of an answer (default: 32)")
    parser.add_argument("--gap-ms", type=float, default=0.0, help="time between two tokens (default: all at once)")
    parser.add_argument("--port", type=int, default=0, help="port on loopback (default: any free one)")
    args = parser.parse_args()
    server = ScriptedServer(null_replies(args.tokens, args.gap_ms / 1e3), port=args.port)
    print(server.url, flush=True)
    server.serve()


if __name__ == "__main__":
    main()
