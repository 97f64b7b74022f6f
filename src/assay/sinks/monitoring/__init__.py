"""Metrics to monitoring systems: Prometheus, OTLP, Datadog, Grafana."""
