"""What the dashboard keeps: pages by the count of changes, acknowledgements."""
