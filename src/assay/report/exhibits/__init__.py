"""What an entry's results show, found by their shape: no benchmark needs to know of the report."""
