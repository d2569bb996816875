# SPDX-License-Identifier: Apache-2.0
"""Socket transports, which the loop reads for natively: data, ends, failures, changes of protocol."""
import asyncio
import socket
import struct

import horae


class Recorder(asyncio.Protocol):
    """Notes what arrives; fails when told to."""

    def __init__(self):
        self.seen, self.lost = [], asyncio.get_running_loop().create_future()

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.seen.append(data)
        if data == b"fail":
            raise ValueError("told to")

    def eof_received(self):
        self.seen.append("eof")

    def connection_lost(self, error):
        self.lost.set_result(error)


def connected(scenario):
    """scenario(transport, protocol, peer socket) on a socket transport of ours."""

    async def main():
        left, right = socket.socketpair()
        left.setblocking(False)
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.connect_accepted_socket(Recorder, left)
        try:
            return await scenario(transport, protocol, right)
        finally:
            transport.close()
            right.close()

    return horae.run(main())


def test_transport_data_and_end_of_file():
    async def scenario(transport, protocol, peer):
        peer.sendall(b"one")
        await asyncio.sleep(0.01)
        peer.sendall(b"x" * 200_000)
        while sum(map(len, protocol.seen)) < 200_003:
            await asyncio.sleep(0.001)
        peer.close()
        assert await protocol.lost is None
        assert protocol.seen[0] == b"one" and protocol.seen[-1] == "eof"
        assert max(map(len, protocol.seen)) <= 65536

    connected(scenario)


def test_transport_of_a_failing_protocol_is_aborted():
    async def scenario(transport, protocol, peer):
        errors = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: errors.append(context))
        peer.sendall(b"fail")
        error = await protocol.lost
        assert isinstance(error, ValueError) and errors[0]["exception"] is error
        assert errors[0]["message"] == "Fatal error: protocol.data_received() call failed."

    connected(scenario)


def test_transport_that_changes_its_protocol():
    class Buffered(asyncio.BufferedProtocol):
        def __init__(self):
            self.buffer, self.got = bytearray(100), asyncio.get_running_loop().create_future()

        def get_buffer(self, hint):
            return self.buffer

        def buffer_updated(self, count):
            self.got.set_result(bytes(self.buffer[:count]))

    async def scenario(transport, protocol, peer):
        other = Buffered()
        transport.set_protocol(other)
        peer.sendall(b"buffered")
        assert await other.got == b"buffered"
        transport.set_protocol(protocol)
        transport.pause_reading()
        peer.sendall(b"paused")
        await asyncio.sleep(0.005)
        assert protocol.seen == []
        transport.resume_reading()
        while not protocol.seen:
            await asyncio.sleep(0.001)
        assert protocol.seen == [b"paused"]

    connected(scenario)


def test_transport_that_is_aborted():
    async def scenario(transport, protocol, peer):
        transport.abort()
        assert await protocol.lost is None

    connected(scenario)


def test_transport_whose_peer_resets():
    """A socket tells its error once: it must reach connection_lost()."""
    async def main():
        server = socket.create_server(("127.0.0.1", 0))
        transport, protocol = await asyncio.get_running_loop().create_connection(Recorder, *server.getsockname())
        peer, _ = server.accept()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
        server.close()
        assert isinstance(await protocol.lost, ConnectionResetError)
        transport.close()

    horae.run(main())
