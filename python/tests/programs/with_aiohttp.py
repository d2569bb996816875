# SPDX-License-Identifier: Apache-2.0
"""aiohttp, server and client: requests in parallel, streaming, a WebSocket, a timeout."""
import asyncio

import aiohttp
from aiohttp import web

import horae


async def hello(request):
    return web.json_response({"hello": request.match_info["name"]})


async def slow(request):
    await asyncio.sleep(5)
    return web.Response()


async def upload(request):
    return web.Response(text=str(len(await request.read())))


async def chat(request):
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        await socket.send_str(message.data.upper())
    return socket


async def main():
    assert isinstance(asyncio.get_running_loop(), horae.EventLoop)
    app = web.Application(client_max_size=2**24)
    app.add_routes([web.get("/hello/{name}", hello), web.get("/slow", slow), web.post("/upload", upload),
                    web.get("/chat", chat)])
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    base = "http://127.0.0.1:%d" % site._server.sockets[0].getsockname()[1]
    async with aiohttp.ClientSession(base) as session:

        async def get(number):
            async with session.get(f"/hello/{number}") as response:
                return (await response.json())["hello"]

        answers = await asyncio.gather(*(get(number) for number in range(500)))
        assert answers == [str(number) for number in range(500)]
        async with session.post("/upload", data=b"x" * 5_000_000) as response:
            assert await response.text() == "5000000"
        async with session.ws_connect("/chat") as socket:
            for word in ("one", "two"):
                await socket.send_str(word)
                assert await socket.receive_str() == word.upper()
        try:
            async with session.get("/slow", timeout=aiohttp.ClientTimeout(total=0.05)):
                raise AssertionError("no timeout")
        except asyncio.TimeoutError:
            pass
    await runner.cleanup()
    print("aiohttp: 500 requests, an upload, a WebSocket and a timeout")


horae.run(main())
