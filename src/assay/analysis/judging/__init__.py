"""What makes a verdict of samples: floors of noise, exact values, how many runs would tell."""
