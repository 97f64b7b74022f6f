"""GPUs: which there are, what they use, watched from beside a run."""
