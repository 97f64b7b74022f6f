"""Data sets of conversations: rows, the text of a chat, tokens and labels."""
