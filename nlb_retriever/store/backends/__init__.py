"""Where a library's points are kept: a folder on this machine, or a Qdrant server."""
