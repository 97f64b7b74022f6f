from __future__ import annotations

from tools.site.reference.markdown import page

SUMMARY = "Everything on these pages is made from the code when the site is built, so it is what this version does."
LIST = """- [Session YAML](yaml.md): every key of `assay run --config`, with type, default and an example
- [Colocation YAML](colocation-yaml.md): every key of `assay colocate`
- [Weight profiles](weight-profiles.md): every key of `assay weights bench --profile`
- [Commands](commands.md): every command and flag
- [Python](python.md): every name that may be imported
- [Metrics](metrics.md): what each means, its unit, which way is better
- [Files](../files.md): what is on disk, and who writes it
- [Exit codes](exit-codes.md)
- [Environment variables](environment.md)
- [Messages](messages.md): every error that you can cause"""


def reference_page() -> str:
    return page("Reference", SUMMARY, [LIST])
