"""What is printed: text for a terminal, a pipe and session.log."""
