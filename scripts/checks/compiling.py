"""Every Python file compiles under the Python that runs this, without a warning."""

import warnings

from scripts.checks.tree import Check, Module, Tree


def checks(tree: Tree) -> list[Check]:
    problems = tuple(problem for module in tree.modules.values() if (problem := _problem(module)))
    return [Check("every Python file compiles", problems)]


def _problem(module: Module) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compile(module.raw, module.path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, Warning) as error:
            return f"{module.path}:{getattr(error, 'lineno', None) or 1} {error}"
    return None
