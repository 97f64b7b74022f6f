from __future__ import annotations

from assay.benchmarks.weights.tables import Table


def test_a_table_is_printed_as_people_know_it() -> None:
    table = Table(
        "Compression Performance",
        ("Scenario", "Compression", "Space Saved"),
        (("Similar Models", "15.2x", "93.4%"), ("Checkpoints", "25.8x", "96.1%")),
        interpretation=(">10x compression: Excellent",),
        notes=("one was left out",),
    )
    assert (
        str(table)
        == """Compression Performance:
┌────────────────┬─────────────┬─────────────┐
│ Scenario       │ Compression │ Space Saved │
├────────────────┼─────────────┼─────────────┤
│ Similar Models │ 15.2x       │ 93.4%       │
│ Checkpoints    │ 25.8x       │ 96.1%       │
└────────────────┴─────────────┴─────────────┘

Interpretation:
- >10x compression: Excellent
note: one was left out"""
    )
