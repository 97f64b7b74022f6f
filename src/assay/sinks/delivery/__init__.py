"""The outbox that loses no message, and the process that delivers from it."""
