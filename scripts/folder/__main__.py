"""What `bench`, `python FOLDER` and `python -m benchwarmers` run; becomes the installed folder's
__main__.py."""

import sys

if __package__:  # python -m benchwarmers: the folder is a package here, and is not on sys.path yet
    from benchwarmers import benchwarmers

    benchwarmers()
else:
    from cli import main

    sys.exit(main(program=globals().get("PROGRAM", "benchwarmers")))
