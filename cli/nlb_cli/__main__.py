"""`python -m nlb_cli` is `nlb`, for where its script is not on the path."""

from nlb_cli.app import main

if __name__ == "__main__":
    main()
