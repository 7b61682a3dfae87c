"""`python -m unstall` is `unstall`."""

from unstall.cli import main

if __name__ == "__main__":
    main()
