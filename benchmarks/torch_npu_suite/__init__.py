"""torch_npu's own public tests, run file by file and counted: the parts of ``benchmarks/conformance.py``."""
