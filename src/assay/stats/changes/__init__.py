"""Change points and the noise that hides them."""
