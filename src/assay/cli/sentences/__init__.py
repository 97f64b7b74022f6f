"""What commands say of their own; a file a command."""
