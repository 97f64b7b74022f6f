"""Policies: who runs, where and with how much of the machine, decided while pipelines run."""
