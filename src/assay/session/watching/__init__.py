"""What is watched beside a run: neighbours, GPUs, leftovers, profiles."""
