"""The dashboard and the published site."""
