"""Words that commands share: options, messages, exit codes, streams."""
