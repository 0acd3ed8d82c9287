"""A file format each: `read_NAME(data, path, limits)` returns a Draft."""
