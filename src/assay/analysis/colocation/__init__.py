"""`colocation.json` as it is looked at: what pipelines did alone and beside each other."""
