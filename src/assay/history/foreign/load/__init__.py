"""Results of other tools that load servers of language models, under their own definitions.

A metric's name begins with the tool's: `guidellm_tpot_s_p50` and `vllm_tpot_s_p50` are two quantities, and neither is
Assay's `tpot_s_p50` (docs/history.md has the formulas).
"""
