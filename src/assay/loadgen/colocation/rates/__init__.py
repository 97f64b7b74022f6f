"""One pipeline at several rates, and the highest that it keeps."""
