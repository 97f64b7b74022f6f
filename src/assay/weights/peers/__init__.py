"""Other stores behind `WeightStore`, so that the suites measure them exactly as they measure `Repository`."""
