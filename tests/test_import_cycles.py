"""No module imports one that imports it, not even inside a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("nlb_retriever", "cli/nlb_cli", "training/nlb_training", "integrations/nlb_integrations")


def find_modules(*folders: Path) -> dict[str, Path]:
    """Module name -> file, of packages."""
    modules = {}
    for folder in folders:
        for file in sorted(folder.rglob("*.py")):
            parts = [folder.name, *file.relative_to(folder).with_suffix("").parts]
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return modules


def find_imports(file: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    """Modules that a file imports anywhere but under TYPE_CHECKING."""
    nodes: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            nodes += node.orelse
            continue
        nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if name in modules or node.module in modules:
                    yield name if name in modules else node.module


def find_cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """The modules of one cycle, in the order of their imports; empty if there is none."""
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> list[str]:
        if module in path:
            return path[path.index(module) :]
        if module not in done:
            for other in sorted(graph[module] - {module}):
                if cycle := visit(other, [*path, module]):
                    return cycle
            done.add(module)
        return []

    return next((cycle for module in sorted(graph) if (cycle := visit(module, []))), [])


def test_no_module_of_any_package_is_in_an_import_cycle() -> None:
    modules = find_modules(*(ROOT / package for package in PACKAGES))
    graph = {name: set(find_imports(file, modules)) for name, file in modules.items()}
    assert len(graph) > 150
    assert find_cycle(graph) == []


@pytest.mark.parametrize(
    ("second", "cycle"),
    [
        ("def call():\n    from shop.first import x\n", ["shop.first", "shop.second"]),
        ("def call():\n    import shop.first\n", ["shop.first", "shop.second"]),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from shop.first import x\n", []),
        ("import json\n", []),
    ],
)
def test_a_cycle_is_found_through_functions_but_not_through_type_checking(
    tmp_path: Path, second: str, cycle: list[str]
) -> None:
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "first.py").write_text("from shop import second\nx = 1\n")
    (package / "second.py").write_text(second)
    modules = find_modules(package)
    assert find_cycle({name: set(find_imports(file, modules)) for name, file in modules.items()}) == cycle
