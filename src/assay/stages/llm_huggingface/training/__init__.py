"""What changes the weights of a model: adapters, schedules, one step after the other."""
