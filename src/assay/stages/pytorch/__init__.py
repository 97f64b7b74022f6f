"""What all model stages share: options, devices, number types, and libraries imported when they are needed."""
