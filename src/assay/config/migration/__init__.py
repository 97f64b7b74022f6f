"""Files of other forms rewritten line by line: what need not change stays as it is, comments too."""
