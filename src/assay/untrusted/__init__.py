"""What others wrote, read under limits: a file may be anything, and nothing in it is run."""
