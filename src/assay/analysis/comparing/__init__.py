"""Two or more sides held against each other, and what differs around them."""
