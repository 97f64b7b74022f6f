"""What is shown of pipelines that ran beside each other."""
