"""Build the signatures and docstrings of the estimators from the parameters that the methods declare."""

import inspect
import re
import textwrap
from collections.abc import Mapping
from typing import Any

from clusterlets import methods
from clusterlets.estimators.base import FairClusterer

#: Description of an estimator's parameter: its default, its type as a stub file writes it, and its meaning.
Description = tuple[Any, str, str]

RANDOM_STATE: Description = (
    None,
    "int | np.random.Generator | np.random.RandomState | None",
    "Source of all randomness; an int gives the same result at each fit, None a different one.",
)


def describe(parameter: methods.Parameter) -> Description:
    """Describe a method's parameter as a parameter of its estimator."""
    allowed = "" if isinstance(parameter, methods.Choice) else f" {parameter.allowed[0].upper()}{parameter.allowed[1:]}."
    return parameter.default, parameter.annotation, parameter.meaning + allowed


def set_parameters(estimator: type, parameters: Mapping[str, Description]) -> None:
    """Give an estimator an ``__init__`` with these parameters, and list them in its docstring in place of ``{parameters}``.

    All parameters but the first are keyword-only.
    """
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    arguments = [
        inspect.Parameter(name, kinds[index > 0], default=default)
        for index, (name, (default, _, _)) in enumerate(parameters.items())
    ]
    signature = inspect.Signature([inspect.Parameter("self", kinds[0]), *arguments])

    def __init__(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        self, *_ = args
        for name in parameters:
            setattr(self, name, bound.arguments[name])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__, __init__.__module__ = f"{estimator.__qualname__}.__init__", estimator.__module__
    estimator.__init__ = __init__  # type: ignore[misc]
    estimator._annotations = {name: annotation for name, (_, annotation, _) in parameters.items()}  # type: ignore[attr-defined]
    documentation = with_common_attributes(estimator).__doc__ or ""
    estimator.__doc__ = documentation.replace("{parameters}", "\n".join(map(_parameter_lines, parameters.items())))


def with_common_attributes(estimator: type) -> type:
    """List the attributes that all estimators share in an estimator's docstring, in place of ``{attributes}``."""
    estimator.__doc__ = (inspect.getdoc(estimator) or "").replace("{attributes}", section(FairClusterer, "Attributes"))
    return estimator


def _parameter_lines(parameter: tuple[str, Description]) -> str:
    name, (default, annotation, meaning) = parameter
    type_text = re.sub(r"Literal\[(.*?)\]", r"{\1}", annotation).replace("np.random.", "").replace(" | ", " or ")
    default_text = f'"{default}"' if isinstance(default, str) else repr(default)
    return f"{name} : {type_text}, default={default_text}\n{textwrap.indent(textwrap.fill(meaning, 110), '    ')}"


def section(documented_class: type, title: str) -> str:
    """A section of a class's docstring, without its title; "" if the docstring has no such section."""
    parts = re.split(r"^(\w+)\n-+\n", inspect.getdoc(documented_class) or "", flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True)).get(title, "").strip()
