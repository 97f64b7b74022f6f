"""Programs for those who work on Assay: checks of images and kernels, and drawings and tables made from its code."""
