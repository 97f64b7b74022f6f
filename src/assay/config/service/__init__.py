"""`service:` of a session file: a server that belongs to an entry."""
