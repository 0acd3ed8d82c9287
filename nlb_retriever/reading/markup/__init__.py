"""Tags and marks to text: HTML, Markdown, hard wraps."""
