"""Questions, what is known of them, passages and replies."""
