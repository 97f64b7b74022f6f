"""`Plan` → `Record`s on disk. A session only emits events; history, progress, report and sinks listen to them."""
