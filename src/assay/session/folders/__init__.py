"""A session's folders and locks on disk."""
