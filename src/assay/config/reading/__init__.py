"""Files read, merged and resolved."""
