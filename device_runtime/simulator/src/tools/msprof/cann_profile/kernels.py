"""How CANN's tables and timelines name what runs on a device."""

from __future__ import annotations

import hashlib

COLLECTIVES = {
    "HcclAllReduce": "hcom_allReduce",
    "HcclAllGather": "hcom_allGather",
    "HcclAllGatherV": "hcom_allGatherV",
    "HcclReduceScatter": "hcom_reduceScatter",
    "HcclReduceScatterV": "hcom_reduceScatterV",
    "HcclBroadcast": "hcom_broadcast",
    "HcclReduce": "hcom_reduce",
    "HcclScatter": "hcom_scatter",
    "HcclAlltoAll": "hcom_alltoall",
    "HcclAlltoAllV": "hcom_alltoallv",
    "HcclAlltoAllVC": "hcom_alltoallvc",
    "HcclSend": "hcom_send",
    "HcclRecv": "hcom_receive",
    "HcclBatchSendRecv": "hcom_batchSendRecv",
    "HcclGroupEnd": "hcom_batchSendRecv",
    "HcclBarrier": "hcom_barrier",
}
TASK_TYPES = {
    "operator": "AI_CORE",
    "copy": "MEMCPY_ASYNC",
    "memset": "MEMSET_ASYNC",
    "collective": "COMMUNICATION",
}
DTYPES = {
    0: "FLOAT",
    1: "FLOAT16",
    2: "INT8",
    3: "INT32",
    4: "UINT8",
    6: "INT16",
    7: "UINT16",
    8: "UINT32",
    9: "INT64",
    10: "UINT64",
    11: "DOUBLE",
    12: "BOOL",
    16: "COMPLEX64",
    17: "COMPLEX128",
    27: "DT_BF16",
    33: "COMPLEX32",
}
FORMATS = {
    0: "NCHW",
    1: "NHWC",
    2: "ND",
    3: "NC1HWC0",
    4: "FRACTAL_Z",
    27: "NDHWC",
    29: "FRACTAL_NZ",
    30: "NCDHW",
    35: "NC",
    47: "NCL",
}


def task_type(kind: str) -> str:
    """What runs it."""
    return TASK_TYPES[kind]


def kernel_type(kind: str, call: str) -> str:
    """`Add` for aclnnAdd; collectives and copies have their own words."""
    if kind == "operator":
        return call.removeprefix("aclnn")
    return COLLECTIVES.get(call, call) if kind == "collective" else TASK_TYPES[kind]


def group_number(group: str) -> int:
    """A number of three digits for a communicator, the same in every process."""
    return int(hashlib.sha256(group.encode()).hexdigest(), 16) % 1000


def kernel_name(kind: str, call: str, group: str, count: int) -> str:
    """The name of one run; `count` counts the earlier ones of this call on this communicator."""
    if kind == "operator":
        return call
    if kind == "collective":
        return f"{kernel_type(kind, call)}__{group_number(group):03}_{count}_1"
    return TASK_TYPES[kind]
