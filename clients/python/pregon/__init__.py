"""Client of Pregón: the disclosures that issuers file with the Spanish regulator CNMV.

>>> import pregon
>>> client = pregon.Client("https://pregon.example")
>>> reports = client.reports.search("dividendo", from_="2026-01-01").to_frame()
"""

from . import models, proofs, webhooks
from ._async import AsyncChanges, AsyncPages
from ._bulk import Download
from ._client import AsyncClient, Client
from ._errors import Error
from ._sync import Changes, Pages
from ._version import VERSION as __version__
from .models import Change, Reset

__all__ = [
    "AsyncChanges",
    "AsyncClient",
    "AsyncPages",
    "Change",
    "Changes",
    "Client",
    "Download",
    "Error",
    "Pages",
    "Reset",
    "__version__",
    "models",
    "proofs",
    "webhooks",
]
