"""Where the program begins when it is packed into one folder."""

import multiprocessing
import sys

from designer.__main__ import main

if __name__ == "__main__":
    # workers of sweeps are this program again
    multiprocessing.freeze_support()
    sys.exit(main())
