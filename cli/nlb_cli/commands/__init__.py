"""The commands, one file each: parse, call the library, print."""
