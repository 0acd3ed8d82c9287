"""Messages about servers, without what must not be shown."""

from __future__ import annotations

import os
import re


def hide_secrets(text: str) -> str:
    """A message without the user and password of a URL, and without $OPENAI_API_KEY, which servers repeat."""
    text = re.sub(r"://[^/@\s]*@", "://***@", text)
    key = os.environ.get("OPENAI_API_KEY")
    return text.replace(key, "***") if key else text
