"""A worker that waits for a host: python -m ham.worker --ham-serve=ADDRESS:PORT --ham-key=FILE [--load=LIBRARY|SCRIPT.py...]."""

from ._worker import main

if __name__ == "__main__":
    main()
