"""A server that answers by a script: it shows what the client can do at most, and what the truth is in tests."""
