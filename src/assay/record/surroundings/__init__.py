"""What a run ran on, and the fingerprint of it."""
