"""``python -m ascendenv``."""

from ascendenv.cli import main

if __name__ == "__main__":
    main()
