"""Programs that measure in a process of their own; `fresh_process` starts them, with JSON in and JSON out."""
