"""MLflow: a session and its runs in an experiment."""
