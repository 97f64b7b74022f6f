"""Session YAML → a merged, resolved `Plan`. Configuration is trusted; nothing here runs a program."""
