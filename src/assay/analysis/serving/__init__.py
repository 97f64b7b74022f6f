"""What `serving.json` says of a load on an endpoint, read as something that others may have changed."""
