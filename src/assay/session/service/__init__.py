"""The server of an entry: started before a run, ready before its program, watched, sampled, and ended after it."""
