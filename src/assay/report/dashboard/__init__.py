"""The dashboard server: reads session folders and the history, changes nothing."""
