from __future__ import annotations

from contextlib import ExitStack

from assay.api.running.experiment_inputs import ExperimentInputs
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.experiment.checkout import Checkout, MissingInRevision
from assay.experiment.pair import Pair
from assay.experiment.variant import Variant
from assay.names import list_names


class NothingInCommon(UsageError):
    pass


class Sides:
    """The two variants of everything, as plans; revisions stay checked out while the block lasts."""

    def __init__(
        self, inputs: ExperimentInputs, variants: tuple[Variant, Variant], *, allow_missing_base: bool = False
    ) -> None:
        self._inputs, self._variants = inputs, variants
        self._allow_missing_base = allow_missing_base
        self._closing = ExitStack()
        self.missing_base = ""
        """Why there is nothing to compare with, where that is allowed: then both sides of a pair are B."""
        self.notes: tuple[str, ...] = ()

    def __enter__(self) -> tuple[list[Pair], Plan]:
        try:
            return self._pair()
        except BaseException:
            self._closing.close()
            raise

    def _pair(self) -> tuple[list[Pair], Plan]:
        head = self._plan(1)
        try:
            base = self._plan(0)
            wanted = {entry.name: entry for entry in head.entries if not entry.is_setup}
            pairs = [
                Pair.of(entry, wanted[entry.name])
                for entry in base.entries
                if not entry.is_setup and entry.name in wanted
            ]
            if not pairs:
                raise NothingInCommon("there is nothing to compare: the two sides have no entry in common")
        except (MissingInRevision, NothingInCommon) as error:
            if not self._allow_missing_base:
                raise
            self.missing_base = str(error)
            return [Pair.of(entry, entry) for entry in head.entries if not entry.is_setup], head
        new = [name for name in wanted if name not in {pair.name for pair in pairs}]
        if new:
            self.notes = (f"only in B, so neither run nor compared: {list_names(new)}",)
        return pairs, base

    def __exit__(self, *gone: object) -> None:
        self._closing.close()

    def _plan(self, side: int) -> Plan:
        variant = self._variants[side]
        revision = variant.revision
        checkout = self._closing.enter_context(Checkout(revision, self._inputs.repository())) if revision else None
        return self._inputs.plan(variant, side, checkout)
