from __future__ import annotations

from tests.pipeline.toy_stages import Numbers, Square

from assay.pipeline import ColumnBatch, Stage
from assay.pipeline.executors.envelope import Envelope, StageGroup
from assay.pipeline.stage import PipelineError


class Count(Stage[ColumnBatch, ColumnBatch]):
    name = "count"
    stateful = True

    def process(self, data: ColumnBatch) -> ColumnBatch:
        return data


def answers(group: StageGroup, *indexes: int) -> list[str | None]:
    splits = Numbers().splits()
    done = [group.run(Envelope(splits[index])) for index in indexes]
    return [str(answer) if isinstance(answer, PipelineError) else None for answer in done]


def test_a_group_that_keeps_state_refuses_a_split_out_of_turn() -> None:
    ahead = "stages numbers+count keep state and were handed numbers-3.txt out of turn"
    assert answers(StageGroup(Numbers(), [Count()]), 0, 1, 3) == [None, None, ahead]


def test_a_group_that_keeps_state_refuses_a_split_again() -> None:
    again = "stages numbers+count keep state and were handed numbers-0.txt out of turn"
    assert answers(StageGroup(Numbers(), [Count()]), 0, 1, 0) == [None, None, again]


def test_a_new_worker_does_not_go_on_without_the_state_of_the_old() -> None:
    (lost,) = answers(StageGroup(Numbers(), [Count()]), 2)
    assert lost == "the worker of a stage that keeps state died, and its state with it, before numbers-2.txt"


def test_without_state_any_order_will_do() -> None:
    assert answers(StageGroup(Numbers(), [Square()]), 3, 1, 1, 0) == [None] * 4
