"""The HTTP client for endpoints: requests at their times, arrival times of all that comes back."""
