# SPDX-License-Identifier: Apache-2.0
"""redis-py against Debian's redis-server, started for this on a Unix socket."""
import asyncio
import pathlib
import subprocess
import tempfile

import redis.asyncio

import horae


async def main(path):
    assert isinstance(asyncio.get_running_loop(), horae.EventLoop)
    client = redis.asyncio.Redis(unix_socket_path=path)
    while True:
        try:
            await client.ping()
            break
        except redis.exceptions.ConnectionError:
            await asyncio.sleep(0.02)
    await asyncio.gather(*(client.set(f"key{number}", number) for number in range(50)))
    assert await asyncio.gather(*(client.get(f"key{number}") for number in range(50))) == [
        str(number).encode() for number in range(50)]
    async with client.pubsub() as channel:
        await channel.subscribe("news")
        assert (await channel.get_message(timeout=5))["type"] == "subscribe"
        await client.publish("news", "hello")
        assert (await channel.get_message(timeout=5))["data"] == b"hello"
    try:
        await asyncio.wait_for(client.blpop("nothing"), 0.05)
        raise AssertionError("no timeout")
    except asyncio.TimeoutError:
        pass
    await client.aclose()
    print("redis: 100 commands, a subscription, a timeout")


with tempfile.TemporaryDirectory() as folder:
    socket = str(pathlib.Path(folder) / "redis.sock")
    server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder],
                              stdout=subprocess.DEVNULL)
    try:
        horae.run(main(socket))
    finally:
        server.terminate()
        server.wait()
