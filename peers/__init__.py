"""Other programs beside Assay, in one run: `make peers-NAME` runs `peers/NAME/compare.py`."""
