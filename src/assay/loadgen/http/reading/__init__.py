"""Answers read after the run: server-sent events with arrival times, and what OpenAI-compatible servers say in them."""
