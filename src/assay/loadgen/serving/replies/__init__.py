"""Answers of an endpoint, read after the run: events with their arrival times, tokens, usage."""
