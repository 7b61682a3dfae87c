"""What the names of a source file stand for, as far as its imports say so."""

from __future__ import annotations

import ast


class Imports:
    """The dotted names behind the names of a file: `mp.Lock` is `multiprocessing.Lock`."""

    def __init__(self, tree: ast.AST) -> None:
        self.known: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    top = one.name.split(".")[0]
                    self.known[one.asname or top] = one.name if one.asname else top
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for one in node.names:
                    self.known[one.asname or one.name] = f"{node.module}.{one.name}"

    def dotted(self, node: ast.AST) -> str:
        """The full name of an imported thing; "" for everything else."""
        if isinstance(node, ast.Name):
            return self.known.get(node.id, "")
        if isinstance(node, ast.Attribute):
            owner = self.dotted(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        return ""

    def called(self, node: ast.AST) -> str:
        """The full name of what a call calls."""
        return self.dotted(node.func) if isinstance(node, ast.Call) else ""
