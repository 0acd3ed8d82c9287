"""These tests load models themselves."""

from __future__ import annotations

from weakref import WeakValueDictionary

import pytest


@pytest.fixture(autouse=True)
def no_kept_models(kept_models: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only models that are in use are shared, as outside of tests."""
    monkeypatch.setattr("nlb_retriever.encoding.compiled._models", WeakValueDictionary())
