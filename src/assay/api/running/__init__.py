"""Plans composed and run with their listeners."""
