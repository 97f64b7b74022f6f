"""Images: drawn or read, cut into splits, in the order of epochs, made in advance."""
