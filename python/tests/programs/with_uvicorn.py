# SPDX-License-Identifier: Apache-2.0
"""uvicorn serving an ASGI application, asked by httpx, and shut down."""
import asyncio

import httpx
import uvicorn

import horae


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": scope["path"].encode() + body})


async def main():
    assert isinstance(asyncio.get_running_loop(), horae.EventLoop)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        answers = await asyncio.gather(*(client.post(f"/{number}", content="!") for number in range(200)))
    assert [answer.text for answer in answers] == [f"/{number}!" for number in range(200)]
    server.should_exit = True
    await serving
    print("uvicorn: 200 requests and a clean shutdown")


horae.run(main())
