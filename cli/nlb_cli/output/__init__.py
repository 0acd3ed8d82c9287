"""What the commands print: lines, tables and progress, for terminals, pipes and programs."""
