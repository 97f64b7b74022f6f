"""What hears of a session as it goes. Each is guarded: none can change or stop a run."""
