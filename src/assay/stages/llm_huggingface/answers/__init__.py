"""What a model says to a batch of prompts: how long, by which schema, token by token."""
