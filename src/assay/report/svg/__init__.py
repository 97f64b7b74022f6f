"""Small drawings made on the server, where interaction would add nothing. Colours come from the page's style sheet."""

import sys

from assay.exports import MovedModules

sys.meta_path.append(MovedModules({"assay.report.svg.standalone": "assay.report.svg.lanes"}))
