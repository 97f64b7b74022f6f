"""Ways to find passages: a database read under limits, and embeddings."""
