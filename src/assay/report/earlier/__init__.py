"""What the history knows of the entries of a session: runs before it, and each metric over the last sessions."""
