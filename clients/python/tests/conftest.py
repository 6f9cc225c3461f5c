"""The tests use the package beside them, not an installed one."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
