"""Google Drive: a session's folder as an archive."""
