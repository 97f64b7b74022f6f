"""Programs of the session bench/nightly.yaml: what each part of Assay costs, one program a part."""
