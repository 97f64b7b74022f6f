"""TLS: the plain client, a certificate that is known or not, and a port that speaks no TLS."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from assay.loadgen.http.http_client import ClientLimits, Fault, RequestPlan, TargetUnreachable
from assay.loadgen.http.open_client import open_client
from assay.loadgen.http.server import ScriptedServer, null_replies
from assay.loadgen.http.target import Target


class _Hello(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *words: object) -> None:
        return


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tls") / "both.pem"
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    signed = builder.add_extension(names, critical=False).sign(key, hashes.SHA256())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    made.write_bytes(private + signed.public_bytes(Encoding.PEM))
    return made


@pytest.fixture(scope="module")
def port(certificate: Path) -> Iterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Hello) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()


@pytest.mark.parametrize("known", [True, False])
def test_a_load_over_tls(port: int, certificate: Path, known: bool) -> None:
    trust = {"ca_file": str(certificate)} if known else {"verify": False}
    target = Target.parse(f"https://127.0.0.1:{port}", **trust)  # type: ignore[arg-type]
    with open_client(target, ClientLimits(most_in_flight=3)) as client:
        client.connect(3)
        client.submit_plan(RequestPlan([target.message("/", b"x" * 100_000)], 12))
        client.run()
        found = client.exchanges()
    assert found.client == "Python"
    assert found.faults() == {Fault.NONE: 12}
    assert {exchange.body for exchange in found} == {b"hello"}


def test_a_certificate_that_nobody_vouches_for_is_one_message(port: int) -> None:
    with (
        open_client(Target.parse(f"https://127.0.0.1:{port}")) as client,
        pytest.raises(TargetUnreachable, match="self-signed certificate"),
    ):
        client.connect(2)


def test_a_port_without_tls_is_one_message() -> None:
    with (
        ScriptedServer(null_replies(1)) as server,
        open_client(Target.parse(server.url.replace("http:", "https:")), ClientLimits(connect_s=2)) as client,
        pytest.raises(TargetUnreachable, match="no connection can be made"),
    ):
        client.connect(1)
