"""Commands that keep house: data, sinks, schemas, old files."""
