"""What a run left behind: read, checked against requirements, judged, kept."""
