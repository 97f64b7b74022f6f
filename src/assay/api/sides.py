from __future__ import annotations

from contextlib import ExitStack

from assay.api.experiment_inputs import ExperimentInputs
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.experiment.checkout import Checkout
from assay.experiment.pair import Pair
from assay.experiment.variant import Variant


class Sides:
    """The two variants of everything, as plans; revisions stay checked out while the block lasts."""

    def __init__(self, inputs: ExperimentInputs, variants: tuple[Variant, Variant]) -> None:
        self._inputs, self._variants = inputs, variants
        self._closing = ExitStack()

    def __enter__(self) -> tuple[list[Pair], Plan]:
        try:
            plans = [self._plan(variant, at) for at, variant in enumerate(self._variants)]
        except BaseException:
            self._closing.close()
            raise
        by_name = {entry.name: entry for entry in plans[1].entries}
        pairs = [
            Pair.of(entry, by_name[entry.name])
            for entry in plans[0].entries
            if not entry.is_setup and entry.name in by_name
        ]
        if not pairs:
            raise UsageError("there is nothing to compare: the two sides have no entry in common")
        return pairs, plans[0]

    def __exit__(self, *gone: object) -> None:
        self._closing.close()

    def _plan(self, variant: Variant, side: int) -> Plan:
        revision = variant.revision
        checkout = self._closing.enter_context(Checkout(revision, self._inputs.repository())) if revision else None
        return self._inputs.plan(variant, side, checkout)
