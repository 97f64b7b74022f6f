"""Slack: a session as one message and replies."""
