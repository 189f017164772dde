"""The closed sets of words that the whole project shares."""

from __future__ import annotations

from enum import Enum


class _Word(str, Enum):
    """A member is its own text, as in ``enum.StrEnum``, which Python 3.10 does not have."""

    def __str__(self) -> str:
        return str(self.value)


class Arch(_Word):
    """CPU architectures, spelled as ``uname -m`` and wheel tags spell them."""

    AARCH64 = "aarch64"
    X86_64 = "x86_64"


class ChipFamily(_Word):
    """NPU generations that share one set of CANN operator packages."""

    CHIP_310 = "310"
    CHIP_310P = "310p"
    CHIP_310B = "310b"
    CHIP_910 = "910"
    CHIP_910B = "910b"
    A3 = "a3"
    CHIP_950 = "950"
    CHIP_350 = "350"


class CannComponent(_Word):
    """The packages that CANN and its driver are delivered in.

    ``ops`` are the operators of one chip family, called *kernels* up to CANN 8.3.
    """

    TOOLKIT = "toolkit"
    OPS = "ops"
    NNAL = "nnal"
    NNAE = "nnae"
    HDK = "hdk"
    SUBPACKAGE = "subpackage"


class PackageKind(_Word):
    """In which form a channel delivers CANN."""

    RUN = "run"
    ZIP = "zip"
    CONDA = "conda"
    YUM = "yum"
    APT = "apt"
    PIP = "pip"


class SupportPhase(_Word):
    """What the vendor still does for the releases of one torch version, most first."""

    DEVELOPMENT = "development"
    MAINTENANCE = "maintenance"
    END_OF_LIFE = "end-of-life"

    @property
    def rank(self) -> int:
        """0 is the most."""
        return list(SupportPhase).index(self)


class Evidence(_Word):
    """How a row of the matrix is known, strongest first."""

    OFFICIAL = "official"
    DERIVED = "derived"
    INFERRED = "inferred"
    FIELD_REPORT = "field-report"
    UNKNOWN = "unknown"

    @property
    def rank(self) -> int:
        """0 is the strongest."""
        return list(Evidence).index(self)


class Verdict(_Word):
    """What the matrix says of a combination of CANN and torch_npu."""

    PAIRED = "paired"
    DECLARED_COMPATIBLE = "declared-compatible"
    REPORTED_BROKEN = "reported-broken"
    UNKNOWN = "unknown"


class Severity(_Word):
    """How bad a finding is, worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    OK = "ok"


class Layer(_Word):
    """Layers of the verification suite, lowest first; each needs all before it."""

    PROBE = "probe"
    IMPORT = "import"
    TENSOR = "tensor"
    MEMORY = "memory"
    HCCL = "hccl"


class Outcome(_Word):
    """What became of one verification check."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    NOT_RUN = "not_run"
