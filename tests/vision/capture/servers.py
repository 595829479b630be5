"""Network cameras on loopback for tests: MJPEG over HTTP, and H.264 over RTSP, on real sockets."""

from __future__ import annotations

import base64
import contextlib
import http.server
import socket
import socketserver
import threading
import time
from collections.abc import Callable
from fractions import Fraction

import av
import cv2
import numpy as np

LOGIN = "Basic " + base64.b64encode(b"eye:s3cret").decode()
PICTURE_S = 1 / 12
SIZE = (320, 240)


def picture(i: int) -> np.ndarray:
    """Return picture ``i`` of a stream: noise, with its number coded in sixteen black or white blocks at the top."""
    image = np.random.default_rng(i).integers(60, 200, (SIZE[1], SIZE[0], 3)).astype(np.uint8)
    image[:40] = 0
    for bit in range(16):
        image[:40, 20 * bit : 20 * bit + 20] = 255 * (i >> bit & 1)
    return image


def number(image: np.ndarray) -> int:
    """Return the number coded into a picture by :func:`picture`."""
    return sum(int(image[5:35, 20 * bit + 5 : 20 * bit + 15].mean() > 127) << bit for bit in range(16))


class Camera:
    """A server that streams pictures to clients with the right user and password.

    ``cut`` and ``back`` disconnect and reconnect it.

    Attributes:
        is_still: whether it keeps the connection open but sends nothing.
    """

    scheme = ""

    def __init__(self, handle: Callable[[socketserver.BaseRequestHandler, Camera], None]) -> None:
        self.is_still = False
        self.begun_s = time.monotonic()
        self._wires: set[socket.socket] = set()
        camera = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                camera._wires.add(self.request)
                with contextlib.suppress(OSError, ValueError):
                    handle(self, camera)

        self._handler = Handler
        self.port = 0
        self.back()

    @property
    def now(self) -> int:
        """Number of the current picture."""
        return int((time.monotonic() - self.begun_s) / PICTURE_S)

    def address(self, login: str = "eye:s3cret@") -> str:
        return f"{self.scheme}://{login}127.0.0.1:{self.port}/live"

    def back(self) -> None:
        server = socketserver.ThreadingTCPServer(("127.0.0.1", self.port), self._handler, bind_and_activate=False)
        server.allow_reuse_address, server.daemon_threads, server.block_on_close = True, True, False
        server.server_bind()
        server.server_activate()
        self._server, self.port = server, server.server_address[1]
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()

    def cut(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        for wire in self._wires:
            with contextlib.suppress(OSError):
                wire.shutdown(socket.SHUT_RDWR)
        self._wires.clear()

    def next(self, i: int) -> int:
        """Wait for the picture after ``i`` and return its number; block while the camera is still."""
        while self.is_still or self.now <= i:
            time.sleep(0.005)
        return max(i + 1, self.now)


class MjpegCamera(Camera):
    """A camera with MJPEG over HTTP."""

    scheme = "http"

    def __init__(self) -> None:
        super().__init__(_serve_mjpeg)


def _serve_mjpeg(handler: socketserver.BaseRequestHandler, camera: Camera) -> None:
    """Answer one HTTP request with a stream of JPEG pictures, or with 401 without the right login."""

    class Http(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.headers.get("authorization") != LOGIN:
                self.send_response(401)
                self.send_header("www-authenticate", 'Basic realm="camera"')
                self.end_headers()
                return
            self.send_response(200)
            self.send_header("content-type", "multipart/x-mixed-replace; boundary=picture")
            self.end_headers()
            i = camera.now
            while True:
                data = cv2.imencode(".jpg", picture(i))[1].tobytes()
                head = f"--picture\r\nContent-Type: image/jpeg\r\nContent-Length: {len(data)}\r\n\r\n"
                self.wfile.write(head.encode() + data + b"\r\n")
                i = camera.next(i)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    Http(handler.request, handler.client_address, handler.server)


class RtspCamera(Camera):
    """A camera with H.264 over RTSP, with RTP packets interleaved in the connection (RFC 2326, section 10.12)."""

    scheme = "rtsp"

    def __init__(self) -> None:
        super().__init__(_serve_rtsp)


SDP = """v=0\r
o=- 0 0 IN IP4 127.0.0.1\r
s=eye\r
t=0 0\r
m=video 0 RTP/AVP 96\r
a=rtpmap:96 H264/90000\r
a=control:0\r
"""


def _serve_rtsp(handler: socketserver.BaseRequestHandler, camera: Camera) -> None:
    """Answer the requests of one RTSP session."""
    wire = handler.request
    lines = wire.makefile("rb")
    while True:
        request = lines.readline().decode().split()
        fields = {}
        while line := lines.readline().decode().strip():
            name, _, value = line.partition(":")
            fields[name.lower()] = value.strip()
        if not request:
            return
        head, body = "", ""
        if request[0] == "DESCRIBE":
            head, body = "Content-Type: application/sdp\r\n", SDP
        elif request[0] == "SETUP":
            head = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\nSession: 1\r\n"
        status = "200 OK" if request[0] == "OPTIONS" or fields.get("authorization") == LOGIN else "401 Unauthorized"
        if status != "200 OK":
            head, body = 'WWW-Authenticate: Basic realm="camera"\r\n', ""
        reply = f"RTSP/1.0 {status}\r\nCSeq: {fields['cseq']}\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}"
        wire.sendall(reply.encode())
        if request[0] == "PLAY" and status == "200 OK":
            _send_rtp(wire, camera)


def _send_rtp(wire: socket.socket, camera: Camera) -> None:
    """Encode pictures with FFmpeg, which sends RTP packets to a local port, and forward those on the connection."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as packets:
        packets.bind(("127.0.0.1", 0))
        packets.settimeout(0.05)
        with av.open(f"rtp://127.0.0.1:{packets.getsockname()[1]}", "w", format="rtp") as out:
            options = {"preset": "ultrafast", "tune": "zerolatency", "crf": "18", "x264-params": "repeat-headers=1"}
            stream = out.add_stream("libx264", rate=12, options=options)
            stream.width, stream.height = SIZE
            stream.pix_fmt, stream.gop_size = "yuv420p", 6
            stream.time_base = Fraction(1, 90000)
            i = -1
            while True:
                i = camera.next(i)
                frame = av.VideoFrame.from_ndarray(picture(i), "bgr24")
                frame.pts, frame.time_base = int(i * PICTURE_S * 90000), Fraction(1, 90000)
                out.mux(stream.encode(frame))
                with contextlib.suppress(TimeoutError):
                    while data := packets.recv(65536):
                        wire.sendall(b"$\0" + len(data).to_bytes(2, "big") + data)
