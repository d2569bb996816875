# SPDX-License-Identifier: Apache-2.0
"""websockets: a server, fifty clients, keepalive pings."""
import asyncio

from websockets.asyncio.client import connect
from websockets.asyncio.server import serve

import horae


async def echo(socket):
    async for message in socket:
        await socket.send(message)


async def main():
    assert isinstance(asyncio.get_running_loop(), horae.EventLoop)
    async with serve(echo, "127.0.0.1", 0, ping_interval=0.02) as server:
        address = "ws://127.0.0.1:%d" % server.sockets[0].getsockname()[1]

        async def client(number):
            async with connect(address) as socket:
                for index in range(20):
                    await socket.send(f"{number} {index}")
                    assert await socket.recv() == f"{number} {index}"
                await asyncio.sleep(0.1)
                await socket.send(b"x" * 500_000)
                assert len(await socket.recv()) == 500_000

        await asyncio.gather(*(client(number) for number in range(50)))
    print("websockets: 50 clients, 1,050 messages each way")


horae.run(main())
