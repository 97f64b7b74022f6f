"""What a process tree uses."""
