"""What is asked of an endpoint: made-up prompts, files of prompts, conversations, recorded traces."""
