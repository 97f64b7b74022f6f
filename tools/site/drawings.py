from __future__ import annotations

import re

from tools.site.flowchart import FlowChart

_BLOCK = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_KINDS = {"flowchart": FlowChart}


def with_drawings(page: str) -> str:
    """The page with each drawing in Mermaid's language as a picture."""
    return _BLOCK.sub(lambda block: f'<div class="drawing">{_draw(block[1])}</div>', page)


def _draw(text: str) -> str:
    kind = text.split(maxsplit=1)[0]
    if kind not in _KINDS:
        raise ValueError(f"no drawing is made of {kind!r}; known: {', '.join(_KINDS)}")
    return _KINDS[kind].read(text).svg()
