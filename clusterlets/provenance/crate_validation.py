"""Check that an archive is a valid Workflow Run RO-Crate, with the library ``roc-validator`` and without a network."""

import tempfile
from importlib import resources
from pathlib import Path

#: The profile to check against; it includes Process Run Crate 0.5, Workflow RO-Crate 1.0 and RO-Crate 1.1.
PROFILE = "workflow-run-crate-0.5"
_CONTEXT = "https://w3id.org/ro/crate/1.1/context"


def faults(archive: Path) -> list[str]:
    """What the profile requires and a ZIP lacks; empty if it is valid.

    Needs the libraries ``rocrate`` and ``roc-validator``.
    """
    from rocrate_validator import services
    from rocrate_validator.models import Severity, ValidationSettings

    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        _cache_context(cache)
        settings = ValidationSettings(
            rocrate_uri=str(archive),
            profile_identifier=PROFILE,
            requirement_severity=Severity.REQUIRED,
            offline=True,
            cache_path=cache,
        )
        result = services.validate(settings)
    return [f"{issue.check.identifier}: {issue.message}" for issue in result.get_issues(Severity.REQUIRED)]


def _cache_context(cache: Path) -> None:
    """Put the context of RO-Crate 1.1, which ``rocrate`` ships, into the validator's cache of downloads."""
    from requests_cache import CachedRequest, CachedResponse, CachedSession

    content = resources.files("rocrate").joinpath("data/ro-crate.jsonld").read_bytes()
    response = CachedResponse(
        request=CachedRequest(method="GET", url=_CONTEXT),
        url=_CONTEXT,
        status_code=200,
        headers={"Content-Type": "application/ld+json"},
        content=content,
    )
    with CachedSession(str(cache), backend="sqlite", expire_after=-1) as session:
        session.cache.save_response(response)
