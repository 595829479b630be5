"""The set-up page: ``/setup``, its state, its pictures, and its actions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from calibration.chessboard import chessboard_pdf
from calibration.errors import ProfileError
from calibration.lens import DEFAULT_BOARD
from calibration.measuring import Field
from calibration.sheets import mat_pdf
from calibration.stickers import STICKER_MM, stickers_pdf
from companion.errors import CompanionError
from companion.phrases import ENGLISH, LANGUAGES, Language, trouble
from companion.rules.notation import format_position
from companion.web.answers import STATIC, refused, unserved
from companion.web.boards import BoardRequest, board_row
from companion.web.files import Files
from companion.web.guard import Guard, Refused, read_body, refuse_foreign, refuse_unknown
from companion.web.server import Server
from companion.web.setup.cameras import ADDRESS, KINDS, Choice
from companion.web.setup.latest_frame import SetupError
from companion.web.setup.overlay import picture
from companion.web.setup.session import SetupSession
from companion.web.setup.sizes import parse_sizes
from companion.web.tls import Certificate
from companion.web.token import new_token
from companion.web.view import game_row
from vision.capture.network import is_address
from vision.errors import VisionError

T = TypeVar("T")

STEPS = ("camera", "mat", "empty", "start", "panel", "done", "lens", "pieces")
"""Steps in order; the last two are optional, more accurate ways to what the others find out too."""

MAX_PX, MAX_MM = 100_000.0, 10_000.0
"""Upper limits of coordinates in a picture and of lengths on a board."""


class SetupPage:
    """Serves the page of one set-up session."""

    def __init__(
        self,
        address: tuple[str, int],
        session: SetupSession,
        token: str = "",
        tls: Certificate | None = None,
        routes: Sequence[BaseRoute] = (),
    ) -> None:
        """Listen.

        ``tls`` is the page's certificate, ``routes`` are further routes to serve.  Raises CompanionError when the
        address cannot be used.
        """
        self.token = token or new_token()
        self._session = session
        self._busy = asyncio.Lock()
        files = Files(STATIC, {"setup": "setup.html"})
        app = Starlette(
            routes=[
                Route("/", lambda _request: RedirectResponse("/setup")),
                Route("/setup/state", self._state),
                Route("/setup/camera.jpg", self._picture),
                Route("/setup/board.pdf", self._board),
                Route("/setup/mat.pdf", self._mat),
                Route("/setup/stickers.pdf", self._stickers),
                Route("/setup/{action}", self._act, methods=["POST"]),
                *routes,
                *files.routes(),
            ],
            exception_handlers={Refused: refused, HTTPException: unserved},
        )
        self.server = Server(address, Guard(app, address[0]), lambda: None, tls)

    @property
    def notice(self) -> str:
        """The page's address, for whoever starts the program."""
        return f"set up the table at {self.server.url}setup#token={self.token}"

    def close(self) -> None:
        """Stop serving."""
        self.server.close()

    async def _state(self, request: Request) -> Response:
        """The game and the state of one step, which becomes the present step."""
        step = request.query_params.get("step", STEPS[0])
        if step not in STEPS:
            raise Refused(404, f"there is no such step; there are {', '.join(STEPS)}")
        lang = _language(request)
        row = await self._do(lambda: self._row(step), lang)
        if why := row.get("why"):
            row = {**row, "why": trouble(why, lang)}
        return JSONResponse({"game": self._game(), "step": step, "row": row}, headers={"cache-control": "no-store"})

    def _row(self, step: str) -> Mapping[str, Any]:
        self._session.enter(step)
        try:
            row: Mapping[str, Any] = getattr(self._session, f"{step}_row")()
        except (CompanionError, VisionError, ProfileError) as error:
            return {"done": False, "why": str(error)}
        return row

    def _game(self) -> Mapping[str, Any]:
        game = self._session.config.game
        start = format_position(game, game.start())
        kit = self._session.config.kit
        return {**game_row(game, kit), "kit": kit.name, "start": board_row(BoardRequest(start, kit=kit))["svg"]}

    async def _picture(self, request: Request) -> Response:
        step = request.query_params.get("step", "")
        data = await self._do(lambda: picture(self._session, step), _language(request))
        return Response(data, media_type="image/jpeg", headers={"cache-control": "no-store"})

    async def _board(self, request: Request) -> Response:
        sheet = await self._do(lambda: chessboard_pdf(DEFAULT_BOARD, "a4"), _language(request))
        return Response(sheet, media_type="application/pdf")

    async def _mat(self, request: Request) -> Response:
        config = self._session.config
        paper = "a4" if request.query_params.get("paper") == "a4" else "a3"
        sheets = await self._do(lambda: mat_pdf(config.kit, paper, config.levels), _language(request))
        return Response(sheets, media_type="application/pdf")

    async def _stickers(self, request: Request) -> Response:
        sheet = await self._do(lambda: stickers_pdf("a4"), _language(request))
        return Response(sheet, media_type="application/pdf")

    def _measure(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Measure the board from the corners of its field that were pointed at.  Raises SetupError."""
        layout = self._session.config.game.layout
        numbers = [_number(v, MAX_PX) for v in _list(body.get("corners")) if isinstance(v, int | float)]
        if len(numbers) != 8:
            raise SetupError("point at the four corners of the playing field")
        a, b, c, d = zip(numbers[::2], numbers[1::2], strict=True)
        side = _number(body.get("side_mm"), MAX_MM) or None
        return self._session.measure(Field((a, b, c, d), layout.files, layout.ranks, (side, None), STICKER_MM))

    async def _act(self, request: Request) -> Response:
        refuse_foreign(request)
        refuse_unknown(request, self.token)
        body = await read_body(request)
        actions: Mapping[str, Callable[[], Mapping[str, Any]]] = {
            "photograph": self._session.photograph,
            "collect": self._session.collect,
            "choose-camera": lambda: self._session.choose(_choice(body)),
            "forget-photographs": self._session.forget_photographs,
            "measure-lens": self._session.measure_lens,
            "measure": lambda: self._measure(body),
            "learn-empty": self._session.learn_empty,
            "learn-start": self._session.learn_start,
            "size": lambda: self._session.resize(parse_sizes(body.get("sizes"))),
            "learn-pieces": self._session.learn_pieces,
            "begin": self._session.begin_match,
            "try": lambda: self._session.try_cue(str(body.get("cue", ""))),
            "finish": self._session.finish,
        }
        action = request.path_params["action"]
        if action not in actions:
            raise Refused(404, f"there is no such action; there are {', '.join(actions)}")
        return JSONResponse({"done": action, "row": await self._do(actions[action], _language(request))})

    async def _do(self, work: Callable[[], T], lang: Language) -> T:
        """Do slow work outside the server's loop, one piece at a time; failures become refusals of one line."""
        async with self._busy:
            try:
                return await run_in_threadpool(work)
            except (CompanionError, VisionError, ProfileError) as error:
                raise Refused(409, trouble(str(error), lang)) from None


def _choice(body: Mapping[str, Any]) -> Choice:
    """The camera that was chosen.  Raises SetupError."""
    kind, name = body.get("kind"), body.get("name", "")
    if kind not in KINDS or not isinstance(name, str):
        raise SetupError(f"choose one of {', '.join(KINDS)}, and name it")
    if kind == ADDRESS and not _names_camera(name):
        raise SetupError("the address names no camera; write it as rtsp://HOST/PATH or http://HOST/PATH")
    return Choice(kind, name)


def _names_camera(address: str) -> bool:
    try:
        return is_address(address)
    except ValueError:
        return False


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _number(value: object, most: float) -> float:
    """``value`` if it is a number from 0 to ``most``; 0 for anything else."""
    return float(value) if isinstance(value, int | float) and 0 <= value <= most else 0.0


def _language(request: Request) -> Language:
    """The language in which the page is shown."""
    return LANGUAGES.get(request.headers.get("accept-language", "")[:2], ENGLISH)
