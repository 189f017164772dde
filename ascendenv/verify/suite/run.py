"""``python run.py TOOLS ARGUMENTS...``: run pytest from the folder TOOLS on this suite.

TOOLS goes into ``sys.path`` of this process only. The processes that checks start see the environment as
it is, so a package that the environment lacks is missed there even if pytest happens to bring it.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

if __name__ == "__main__":
    ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL: end with the runner, however it ends
    sys.path.insert(0, sys.argv[1])
    import pytest

    sys.exit(pytest.main([str(Path(__file__).parent), *sys.argv[2:]]))
