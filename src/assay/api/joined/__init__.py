"""A session that many jobs share: one of them runs its entries; the last one, or `--finish`, ends the session."""
