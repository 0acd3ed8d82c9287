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
    draft = read_markdown(f"+++\n{field}\n+++\n\nThe weir froze.\n".encode(), DEFAULT)
    assert "The weir froze." in draft.text


def test_rows_of_a_list_table_are_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    for marks in ("```", ":::"):
        table = "* - Lamp\n  - Place\n* - *Brass*,\n    old\n  - North | east\n* - Iron\n"
        path.write_text(f"# Lamps\n\n{marks}{{list-table}} All lamps\n:header-rows: 1\n\n{table}{marks}\n\nEnd.\n")
        book = read_book(path)
        assert book.text.split("\n\n")[1:] == ["All lamps", "Lamp  Place", "Brass, old  North | east\nIron", "End."]


def test_what_a_term_means_stands_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(
        "# Words\n\nKeeper\n: Who has a *lamp*.\n: A warden.\n\n```\nkey\n: value\n```\n\nBarrel\n\n:   A tub.\n"
    )
    assert read_book(path).text == "Words\n\nKeeper: Who has a lamp.\nA warden.\n\nkey\n: value\n\nBarrel: A tub."


@pytest.mark.parametrize("mark", ["[TOC]", "[[_TOC_]]", "[[toc]]", "* This text becomes the contents\n{:toc}"])
def test_the_place_of_a_table_of_contents_is_no_text(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "a.md"
    path.write_text(f"# Words\n\n{mark}\n\nA keeper.\n")
    book = read_book(path)
    assert book.text == "Words\n\nA keeper."
    assert book.warnings and "contents mark" in book.warnings[0]


def test_rows_with_more_cells_than_the_head_are_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# T\n\n| Lamp | Place |\n|---|---|\n| *Brass* | North | since 1840 |\n| Iron | South |\n\nEnd.\n")
    assert read_book(path).text == "T\n\nLamp  Place\n\nBrass  North  since 1840\nIron  South\n\nEnd."
