"""A page for phone cameras only."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from companion.phone.camera_routes import PhoneCameraRoutes
from companion.web.answers import STATIC, refused, unserved
from companion.web.files import Files
from companion.web.guard import Guard, Refused
from companion.web.server import Server
from companion.web.tls import Certificate


class PhoneCameraPage:
    """Serves the page of phones used as cameras."""

    def __init__(
        self, address: tuple[str, int], phone_cameras: PhoneCameraRoutes, tls: Certificate | None = None
    ) -> None:
        """Listen at host and port.  Raises CompanionError when the address cannot be used."""
        app = Starlette(
            routes=[*phone_cameras.routes(), *Files(STATIC, {}).routes()],
            exception_handlers={Refused: refused, HTTPException: unserved},
        )
        self.server = Server(address, Guard(app, address[0]), lambda: None, tls)

    def close(self) -> None:
        """Stop serving."""
        self.server.close()
