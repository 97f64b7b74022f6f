"""The compiled pass: C sources beside this file, built once by `python -m assay.stages.alm.kernel.build`."""
