"""An open connection as a stream of bytes: what both sides do with a socket once it is connected. Opens
nothing.

On POSIX a plain socket stays in blocking mode and the kernel keeps the time limits (SO_RCVTIMEO,
SO_SNDTIMEO): that spares a poll() and a hand-over of the interpreter's lock on every read and write, a
fifth of a loopback round trip. TLS, and Windows (where a read that ran out leaves the socket unusable), use
Python's own time-outs. Callers see no difference: a limit that runs out is a TimeoutError, the other side's
end is b"", anything else an OSError.
"""

import os
import select
import socket
import struct
from collections.abc import Sequence

Buffer = bytes | memoryview  # what can be sent

PIECE = 65_536
FOREVER = 86_400.0
_POSIX = os.name == "posix"


class Line:
    """One connected socket. Only `abort` and `readable` may be called from a thread that does not own it."""

    __slots__ = ("_plain", "_poll", "_read_limit", "_write_limit", "sock", "since")

    def __init__(self, sock: socket.socket, *, tls: bool = False) -> None:
        self.sock = sock
        self.since = 0.0
        self._plain = _POSIX and not tls
        self._poll: select.poll | None = None
        self._read_limit = self._write_limit = FOREVER
        sock.settimeout(None if self._plain else FOREVER)

    def wait_at_most(self, reading: float) -> None:
        """Set how many seconds the next reads may take."""
        # What is left of a deadline shrinks with every wait: not each microsecond of it is worth a system
        # call.
        beyond = self._read_limit - reading
        if beyond < 0.0 or beyond > 0.05 or beyond > reading * 0.01:
            self._read_limit = reading
            if self._plain:
                self._limit(socket.SO_RCVTIMEO, reading)

    def stand_at_most(self, writing: float) -> None:
        """Set how many seconds the next writes may stand still."""
        if writing != self._write_limit:
            self._write_limit = writing
            if self._plain:
                self._limit(socket.SO_SNDTIMEO, writing)

    def _limit(self, option: int, seconds: float) -> None:
        # Zero would mean no limit at all.
        whole, part = divmod(max(1_000, int(seconds * 1_000_000)), 1_000_000)
        self.sock.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", whole, part))

    def receive(self, most: int = PIECE) -> bytes:
        """What has come, at least one byte of it; b"" when the other side has finished."""
        if not self._plain:
            self.sock.settimeout(self._read_limit)
            return self.sock.recv(most)
        try:
            return self.sock.recv(most)
        except BlockingIOError as error:
            raise TimeoutError from error

    def receive_all(self, size: int) -> bytes:
        """`size` bytes, without a copy, where they come in time; else what has come by then (b"" at the
        end)."""
        if not self._plain:
            return self.receive(size)
        try:
            return self.sock.recv(size, socket.MSG_WAITALL)
        except BlockingIOError as error:
            raise TimeoutError from error

    def send(self, buffers: Sequence[Buffer]) -> None:
        """All of `buffers`: a small message in one packet, a large one without being copied."""
        whole = buffers[0] if len(buffers) == 1 else None
        if whole is None and sum(map(len, buffers)) <= PIECE:
            whole = b"".join(buffers)
        if not self._plain:
            self.sock.settimeout(self._write_limit)
            for buffer in buffers if whole is None else (whole,):
                self.sock.sendall(buffer)
            return
        try:
            if whole is None:
                self._send_gathered(buffers)
            else:
                self.sock.sendall(whole)
        except BlockingIOError as error:
            raise TimeoutError from error

    def _send_gathered(self, buffers: Sequence[Buffer]) -> None:
        left = [memoryview(buffer) for buffer in buffers if buffer]
        while left:
            sent = self.sock.sendmsg(left[:64])
            while left and sent >= len(left[0]):
                sent -= len(left.pop(0))
            if sent:
                left[0] = left[0][sent:]

    def readable(self) -> bool:
        """Whether a read would return at once: with bytes, or with the end. Never waits."""
        if not _POSIX:
            return bool(select.select([self.sock], [], [], 0)[0])
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(self.sock.fileno(), select.POLLIN)
        return bool(self._poll.poll(0))

    def ended(self) -> bool:
        """Whether the other side is gone, as far as one can know without waiting and without taking its
        bytes."""
        try:
            return self.readable() and not socket.socket.recv(self.sock, 1, socket.MSG_PEEK)
        except OSError:
            return True

    def abort(self) -> None:
        """End the connection from any thread; a read or write that is waiting in another returns at once."""
        # TLS's own shutdown() would pull the session from under that other thread: go below it.
        try:
            socket.socket.shutdown(self.sock, socket.SHUT_RDWR)
        except OSError:
            pass
        if not _POSIX:
            self.sock.close()

    def finish(self) -> None:
        """Say that nothing more will be sent; what the other side still sends can be read."""
        try:
            self.sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self) -> None:
        try:
            self.sock.close()
        except OSError:
            pass
