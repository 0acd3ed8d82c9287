"""Word processors' documents: paragraphs, looks of runs, numbers that the program counts."""
