"""Load on an HTTP endpoint: what is sent, what came back, and what it says about the server."""
