"""Set up, explain and prove the software stack that PyTorch needs on Huawei Ascend NPUs."""

__version__ = "0.1.0"
