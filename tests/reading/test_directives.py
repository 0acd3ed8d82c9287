"""What MyST, MkDocs, Hugo and Jekyll add to Markdown is read as they show it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever.reading import read_book
from nlb_retriever.reading.formats.markdown import read_markdown
from nlb_retriever.reading.limits import DEFAULT

MYST = """\
---
kernelspec:
  name: python3
---

(intro)=
# The marsh

```{note}
Salt **kills** reeds.
```

:::{warning} Danger
:class: dropdown
Mud is deep.
:::

See {ref}`the guide <guide>` and {math}`a^2`.

```{figure} img.png
:alt: A marsh
:width: 200px

At noon.
```

```{toctree}
chapter1
```

```{code-cell} ipython3
:tags: [hide-input]
print("{note}")
```

````{admonition} Boots
```{tip}
Bring boots.
```
````

% a remark

## Birds

Herons.
"""
MKDOCS = """\
# Pump

!!! warning "Hot surface"
    It has 90 degrees.

    ??? note
        Let it cool.

=== "Linux"

    Run `pump`.

```py title="main.py" hl_lines="2"
run()
```

[Buy](a.md){ .button } now.
"""
HUGO = """\
+++
title = "Bees"
date = 2023-05-06
authors = ["Ina Brandt"]
+++

They drink dew daily.^[A litre, says [Bo](b.md).] {{< figure src="x.png" caption="A hive" >}} {% include toc.html %}
`{{< kept >}}`

## Hives
{: .small #hives}

Four.
"""


def _read(path: Path, text: str) -> tuple[str, list[str]]:
    path.write_text(text)
    book = read_book(path)
    return book.text, [section.title for section in book.sections]


def test_directives_of_myst_are_text(tmp_path: Path) -> None:
    text, titles = _read(tmp_path / "a.md", MYST)
    assert titles == ["The marsh", "Birds"]
    assert text.startswith("The marsh\n\nSalt kills reeds.\n\nDanger\n\nMud is deep.\n\nSee the guide and a^2.\n")
    assert '\n\nA marsh\n\nAt noon.\n\nprint("{note}")\n\nBoots\n\nBring boots.\n\nBirds' in text


def test_admonitions_of_mkdocs_are_text(tmp_path: Path) -> None:
    text, _ = _read(tmp_path / "a.md", MKDOCS)
    parts = (
        "Pump",
        "Hot surface",
        "It has 90 degrees.",
        "Let it cool.",
        "Linux",
        "Run pump.",
        "main.py",
        "run()",
        "Buy now.",
    )
    assert text == "\n\n".join(parts)


def test_front_matter_templates_and_inline_notes_are_no_text(tmp_path: Path) -> None:
    text, titles = _read(tmp_path / "a.md", HUGO)
    assert titles == ["Bees", "Hives", "Notes"]
    assert text == "They drink dew daily. A hive {{< kept >}}\n\nHives\n\nFour.\n\nNotes\n\n1 A litre, says Bo.\n\n"
    book = read_book(tmp_path / "a.md")
    assert (book.title, book.author, book.year) == ("Bees", "Ina Brandt", 2023)


def test_long_lines_of_marks_take_no_time(tmp_path: Path) -> None:
    for mark in "{{< ```{a} {a}` a^[ !!! :::{a} {% {: !!!\ta [)]{.".split(" "):
        for end in ("", "\n"):
            text, _ = _read(tmp_path / "a.md", f"# Clock\n\nIt is wound.\n\n```{{note}}\n{(mark + end) * 5_000}\n")
            assert "It is wound." in text


@pytest.mark.parametrize("field", ['extra = "wide"', f"pages = {'1' * 5_000}"])
def test_odd_fields_of_toml_lose_no_text(field: str) -> None:
    draft = read_markdown(f"+++\n{field}\n+++\n\nThe weir froze.\n".encode(), Path("weir.md"), DEFAULT)
    assert "The weir froze." in draft.text
