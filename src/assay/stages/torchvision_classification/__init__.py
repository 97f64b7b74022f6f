"""Image classification on torchvision and timm: data, preprocessing, training and inference."""

from assay.stages.torchvision_classification.classification import TorchVisionClassification
from assay.stages.torchvision_classification.data_loader import TorchVisionDataLoader
from assay.stages.torchvision_classification.preprocessing import TorchVisionPreprocessFromWeights

__all__ = ["TorchVisionClassification", "TorchVisionDataLoader", "TorchVisionPreprocessFromWeights"]
