"""What a run left, judged, masked and kept."""
