"""Files and text written whole, or not at all."""
