"""Pages of HTML, one a file."""
