"""What a session ran on: its environment, and the fingerprint that says which records are comparable."""
