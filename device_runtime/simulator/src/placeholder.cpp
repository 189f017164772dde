// Libraries that torch_npu names as needed without using anything of them are made from this file.
