"""What docs/architecture.md says of rooms and layers is so; no import circle, no file of more than 350 lines."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGES = ("nlb_retriever", "cli/nlb_cli", "training/nlb_training", "integrations/nlb_integrations")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
SHARED = {"config", "records", "errors", "atomic"}


@cache
def modules() -> dict[str, Path]:
    """The file of every module of the project, by its dotted name."""
    found = {}
    for package in map(Path, PACKAGES):
        for file in sorted((ROOT / package).rglob("*.py")):
            parts = file.relative_to(ROOT / package.parent).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def executed(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements below a node, those in functions too; not those for type checkers only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from executed(child)


def imported(statement: ast.Import | ast.ImportFrom) -> set[str]:
    """The project's modules that a statement imports."""
    if isinstance(statement, ast.Import):
        return {alias.name for alias in statement.names} & modules().keys()
    assert statement.level == 0, "imports are absolute"
    names = (f"{statement.module}.{alias.name}" for alias in statement.names)
    return {name if name in modules() else str(statement.module) for name in names} & modules().keys()


@cache
def imports() -> dict[str, set[str]]:
    """What every module imports of the project, at any time; the public names of nlb_retriever are imported late."""
    graph = {name: set[str]() for name in modules()}
    for name, file in modules().items():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        statements = ast.walk(tree) if name == "nlb_retriever" else executed(tree)
        for statement in statements:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                graph[name] |= imported(statement) - {name}
    return graph


def test_no_module_imports_itself_through_others_even_inside_functions() -> None:
    assert sum(map(len, imports().values())) > 500
    try:
        TopologicalSorter(imports()).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def rooms() -> dict[str, str]:
    """What the page says each room may import."""
    rows = re.findall(r"^\| `([\w/]+)` \| .* \| (.*)\|$", PAGE, re.MULTILINE)
    return dict(rows)


def test_the_page_names_every_room_and_no_other() -> None:
    library = {str(init.parent.relative_to(ROOT)) for init in (ROOT / "nlb_retriever").glob("*/__init__.py")}
    assert rooms().keys() == library | {package for package in PACKAGES if "/" in package}
    files = {file.stem for file in (ROOT / "nlb_retriever").glob("*.py")} - {"__init__"}
    assert files == SHARED


@pytest.mark.parametrize("room", [room for room in rooms() if room.startswith("nlb_retriever/")])
def test_a_room_imports_only_what_the_page_says(room: str) -> None:
    package = room.replace("/", ".")
    allowed = set(re.findall(r"`(\w+)`", rooms()[room])) | SHARED
    for module, targets in imports().items():
        if module == package or module.startswith(f"{package}."):
            used = {target.split(".")[1] for target in targets if not target.startswith(package)}
            assert used <= allowed, module


def test_openvino_is_imported_only_where_its_telemetry_is_left_out() -> None:
    importing = set()
    for name, file in modules().items():
        for statement in executed(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(statement, ast.Import):
                names = [alias.name for alias in statement.names]
            else:
                names = [str(statement.module)]
            if any(each.partition(".")[0] == "openvino" for each in names):
                importing.add(name)
    assert importing == {"nlb_retriever.encoding.openvino_core"}


def test_the_layers_are_those_that_are_checked() -> None:
    packages, inside = (contract["layers"] for contract in CONTRACTS[:2])
    for layers in (packages, inside):
        assert f"    {' → '.join(layers)}\n" in PAGE


def test_the_contracts_are_those_that_are_checked() -> None:
    listed = re.findall(r"^- (.+?)(?: \(|: |$)", PAGE.partition("seven contracts")[2].partition("##")[0], re.MULTILINE)
    assert listed == [contract["name"] for contract in CONTRACTS]
    assert len(listed) == 7


def test_no_file_has_more_than_350_lines() -> None:
    folders = (*PACKAGES, "benchmarks", "examples", "tests")
    lengths = {
        str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines())
        for folder in folders
        for file in (ROOT / folder).rglob("*.py")
    }
    assert {file: length for file, length in lengths.items() if length > 350} == {}
