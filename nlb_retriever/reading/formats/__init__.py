"""A file format each: `read_NAME(data, limits)` returns a Draft."""
