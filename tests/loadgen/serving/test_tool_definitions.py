"""One constructed run under the definitions of four tools: they differ exactly as the table of docs/serving.md says."""

from __future__ import annotations

import pytest
from made_exchanges import DONE, ROLE, Made, delta, made_point, usage

from assay.loadgen.serving.metrics_of_other_tools import TOOLS, tool_text

# Sent 100 ms late; the role after 10 ms, tokens at 30, 50 and 90 ms after the send, the last chunk with two of them.
RUN = Made(
    intended=0,
    sent=100,
    pieces=[
        (110, ROLE),
        (130, delta("a")),
        (150, delta(" b")),
        (190, delta(" c d")),
        (196, delta(finish="stop")),
        (198, usage(4)),
        (200, DONE),
    ],
)

EXPECTED = {
    "vllm": {
        "Time to First Token (TTFT)": [10.0],
        "Time per Output Token (TPOT, excl. 1st token)": [(98 - 10) / 3],
        "Inter-token Latency (ITL)": [20.0, 20.0, 40.0, 6.0],
        "End-to-end Latency (E2EL)": [98.0],
    },
    "guidellm": {
        "Time to first token": [30.0],
        "Time per output token": [90 / 4],
        "Inter-token latency": [60 / 3],
        "Request latency": [100.0],
    },
    "aiperf": {
        "Time to First Token": [30.0],
        "Inter Token Latency": [60 / 3],
        "Inter Chunk Latency": [20.0, 40.0],
        "Request Latency": [90.0],
    },
}


@pytest.mark.parametrize("tool", TOOLS)
def test_figures_of_another_tool(tool: str) -> None:
    found = {figure.name: (figure.values / 1e6).tolist() for figure in TOOLS[tool](made_point([RUN]))}
    assert found == {name: pytest.approx(values) for name, values in EXPECTED[tool].items()}


def test_vllm_leaves_out_the_wait_that_a_user_has() -> None:
    """A cap of one in flight, each answer takes 20 ms, users come every 10 ms: the n-th waits 10 · n ms longer."""
    answer = Made(0, 0, [(5, delta("a")), (20, delta("b", finish="stop") + usage(2) + DONE)])
    requests = []
    for number in range(50):
        at = answer.later(20.0 * number)
        requests.append(Made(10.0 * number, at.sent, at.pieces))
    point = made_point(requests)
    ours = point.times.values("latency_s") / 1e6
    [theirs] = [figure.values / 1e6 for figure in TOOLS["vllm"](point) if "E2EL" in figure.name]
    assert theirs.tolist() == pytest.approx([20.0] * 50)
    assert (ours - theirs).tolist() == pytest.approx([10.0 * number for number in range(50)])


def test_a_tool_with_an_answer_of_one_token() -> None:
    one = Made(0, 0, [(5, delta("a", finish="stop") + usage(1) + DONE)])
    for tool in TOOLS:
        text = tool_text(tool, made_point([one]))
        assert max(map(len, text.splitlines())) <= 80
        assert "nan" not in text
