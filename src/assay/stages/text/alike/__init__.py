"""Documents that are alike: keys on disk, pairs that share one, groups. Near duplicates, and exact ones in Parquet."""
