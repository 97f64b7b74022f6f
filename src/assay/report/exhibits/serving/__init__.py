"""What is shown of a load on an endpoint: figures, curve against rate, distributions, course over time."""
