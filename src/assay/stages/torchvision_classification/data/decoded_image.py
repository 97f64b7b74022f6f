from __future__ import annotations

from typing import Any


def decode_image(image: Any) -> Any:
    """A uint8 tensor (3, height, width), from what a data set holds: an image of PIL's, an array or a tensor."""
    # Called for every image, long after set-up has imported both through `library`, which takes longer.
    import torch
    from torchvision.transforms import functional

    if not isinstance(image, torch.Tensor):
        image = functional.pil_to_tensor(_pil(image).convert("RGB"))
    if image.dtype != torch.uint8:
        image = functional.convert_image_dtype(image, torch.uint8)
    if image.ndim == 2:
        image = image[None]
    return image.expand(3, -1, -1) if image.shape[0] == 1 else image[:3]


def _pil(image: Any) -> Any:
    if hasattr(image, "convert"):
        return image
    from PIL import Image

    return Image.fromarray(image)
