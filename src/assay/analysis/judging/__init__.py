"""From samples to a verdict: floors of noise, exact values, how many runs would tell."""
