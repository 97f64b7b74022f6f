from __future__ import annotations

import json
from typing import Any

import pytest

from assay.errors import UsageError
from assay.loadgen.serving.endpoint import Endpoint
from assay.loadgen.serving.load_settings import LoadSettings
from assay.loadgen.serving.objectives import ServingObjective
from assay.loadgen.serving.request_schedule import LoadSchedule, build_scheduler

SAID = [{"role": "user", "content": 'say "hi"'}]


def _endpoint(url: str = "http://h:8000", **given: Any) -> Endpoint:
    return Endpoint.of(LoadSettings(url=url, **given))


def _body(message: bytes) -> Any:
    return json.loads(message.partition(b"\r\n\r\n")[2])


@pytest.mark.parametrize(
    "url",
    ["http://h:8000", "http://h:8000/", "http://h:8000/v1", "http://h:8000/v1/", "h:8000",
     "http://h:8000/v1/chat/completions"],
)  # fmt: skip
def test_an_address_with_and_without_v1(url: str) -> None:
    assert _endpoint(url).url == "http://h:8000/v1/chat/completions"


def test_what_each_endpoint_is_sent() -> None:
    chat = _body(_endpoint(model="m").message(SAID, 9))
    assert chat == {
        "model": "m", "messages": SAID, "max_tokens": 9, "stream": True, "stream_options": {"include_usage": True},
    }  # fmt: skip
    text = _endpoint(endpoint="completions", streamed=False, extra_body='{"temperature": 0}').message(SAID, 9)
    assert _body(text) == {"prompt": 'say "hi"', "max_tokens": 9, "temperature": 0}
    assert _body(_endpoint(endpoint="responses").message(SAID, 9)) == {
        "input": 'say "hi"', "max_output_tokens": 9, "stream": True,
    }  # fmt: skip
    assert _body(_endpoint(endpoint="embeddings").message(SAID, 9)) == {"input": 'say "hi"'}


@pytest.mark.parametrize("kind", ["chat", "completions", "responses", "embeddings", "http"])
def test_many_requests_are_written_as_one_is(kind: Any) -> None:
    endpoint = _endpoint(endpoint=kind, model="m", key="k-123456", body="{prompt}" if kind == "http" else None)
    prompts = [('say "hi"', 9), ("süß\n", 9), ("x" * 500, 10)]
    singles = [endpoint.message([{"role": "user", "content": text}], longest) for text, longest in prompts]
    assert endpoint.prompt_messages(prompts) == singles


def test_plain_http_fills_a_template_or_gets() -> None:
    get = _endpoint("http://h:8000/health?deep=1", endpoint="http").message(SAID, None)
    assert get.startswith(b"GET /health?deep=1 HTTP/1.1\r\n")
    post = _endpoint("http://h:8000/x", endpoint="http", body='{"q": "{prompt}", "n": {max_tokens}}').message(SAID, 3)
    assert post.startswith(b"POST /x HTTP/1.1\r\n")
    assert _body(post) == {"q": 'say "hi"', "n": 3}


def test_the_key_is_a_header_and_nothing_else() -> None:
    settings = LoadSettings(url="http://h:1", key="sk-secret-123")
    assert b"Authorization: Bearer sk-secret-123\r\n" in Endpoint.of(settings).message(SAID, 1)
    assert "sk-secret" not in repr(settings) + str(settings.to_json()) + repr(Endpoint.of(settings))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rate": -1.0}, "--rate must be greater than 0"),
        ({"concurrency": 0}, "--concurrency must be at least 1"),
        ({"body": "x"}, "--body is for --endpoint http"),
        ({"extra_body": "[1]"}, "--extra-body must be a JSON object"),
        ({"extra_body": "{"}, "--extra-body"),
        ({"url": "ftp://x"}, "http:// or https://"),
        ({"url": "http://h/?a=b"}, "has no \\? part"),
        ({"url": "http://me:pw@h/"}, "user name or password"),
    ],
)
def test_what_cannot_be_asked(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Endpoint.of(LoadSettings(**{"url": "http://h:1", **given}))


def _schedule(**given: Any) -> LoadSchedule:
    return LoadSchedule.of(LoadSettings(url="http://h:1", **given), None)


def test_loads_by_what_is_given() -> None:
    assert _schedule().asked.words == "1 in flight"
    assert _schedule(concurrency=16).asked.words == "16 in flight"
    assert _schedule(rate=50.0, requests=20).asked.words == "50/s (poisson)"
    assert _schedule(rate=50.0, requests=20, concurrency=4).asked.words == "50/s (poisson), at most 4 in flight"
    even = _schedule(rate=50.0, duration_s=1.0, scheduler="constant")
    assert even.at_ns is not None
    assert even.at_ns.tolist() == [20_000_000 * n for n in range(50)]
    assert _schedule(scheduler="multi_stream", concurrency=3, requests=6).grouped
    burst = _schedule(scheduler="gamma:cv=3", rate=10.0, requests=5)
    assert burst.count == 5
    ramp = _schedule(scheduler="ramp:start_rate=1,end_rate=9,seconds=10")
    assert ramp.count == 50
    steps = '{"component": "steps", "config": {"steps": [{"rate": 5, "seconds": 2}, {"rate": 10, "seconds": 1}]}}'
    assert _schedule(scheduler=steps).count == 20
    assert _schedule(scheduler="offline", requests=7).count == 7


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"scheduler": "poison", "rate": 1.0}, "unknown load scheduler 'poison'; did you mean 'poisson'"),
        ({"scheduler": "gamma:cw=3", "rate": 1.0}, "unknown key 'cw'"),
        ({"scheduler": "gamma:cv"}, "NAME:KEY=VALUE"),
        ({"scheduler": "poisson"}, "rate is missing"),
        ({"scheduler": "ramp:start_rate=1,end_rate=2,seconds=1", "rate": 2.0}, "the load scheduler ramp has none"),
    ],
)
def test_schedulers_that_cannot_be(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as error:
        build_scheduler(LoadSettings(url="http://h:1", **given))
    assert said in str(error.value)


def test_objectives_are_read() -> None:
    assert ServingObjective.parse("ttft:p99=0.5") == ServingObjective("ttft_s", 0.99, 0.5)
    assert ServingObjective.parse("latency_s_from_send:50=2").words == "latency_s_from_send:p50=2"
    for words in ("ttft", "ttft:99", "tftt:p99=1", "ttft:p100=1", "ttft:p99=0", "ttft:p9.9.9=1", "ttft:p99=-1"):
        with pytest.raises(UsageError, match="--objective"):
            ServingObjective.parse(words)
