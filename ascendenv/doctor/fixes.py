"""Fixes that several checks propose, in the order in which a machine is set up."""

from __future__ import annotations

from ascendenv.doctor.model import Fix

SIMULATE = Fix(
    command="ascendenv install --simulate",
    safe=True,
    note="a simulated NPU, to try everything without the hardware",
)
PASS_DEVICES_IN = Fix(
    command=(
        "docker run --device /dev/davinci0 --device /dev/davinci_manager --device /dev/devmm_svm"
        " --device /dev/hisi_hdc -v /usr/local/dcmi:/usr/local/dcmi"
        " -v /usr/local/bin/npu-smi:/usr/local/bin/npu-smi"
        " -v /usr/local/Ascend/driver/lib64:/usr/local/Ascend/driver/lib64"
        " -v /usr/local/Ascend/driver/version.info:/usr/local/Ascend/driver/version.info"
        " -v /etc/ascend_install.info:/etc/ascend_install.info ..."
    ),
    note="start the container with one --device /dev/davinciN for each NPU (two for each A3 card)",
)
INSTALL_DRIVER = Fix(
    note="first the driver, then the firmware (the vendor's Ascend HDK packages for this NPU), and a reboot"
)
INSTALL_CANN = Fix(note="then CANN: the toolkit and the operator package of this chip")
INSTALL_PYTORCH = Fix(
    command="ascendenv install", safe=True, note="then PyTorch and torch_npu, matched to them"
)
