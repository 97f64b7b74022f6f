"""Files of a load: serving.json, the rows of its requests, raw exchanges."""
