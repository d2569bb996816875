# SPDX-License-Identifier: Apache-2.0
"""asyncpg against Debian's PostgreSQL, a cluster of its own in a temporary folder on a Unix socket."""
import asyncio
import glob
import os
import pwd
import subprocess
import tempfile

import asyncpg

import horae


async def main(folder):
    assert isinstance(asyncio.get_running_loop(), horae.EventLoop)
    while True:
        try:
            pool = await asyncpg.create_pool(host=folder, user="horae", database="postgres", min_size=4, max_size=8)
            break
        except asyncpg.CannotConnectNowError:  # it is starting up
            await asyncio.sleep(0.05)
    await pool.execute("create table numbers (value int)")
    await pool.executemany("insert into numbers values ($1)", [(number,) for number in range(1000)])

    async def count(number):
        return await pool.fetchval("select count(*) from numbers where value < $1", number)

    assert await asyncio.gather(*(count(number) for number in range(200))) == list(range(200))
    try:
        await pool.execute("select pg_sleep(10)", timeout=0.1)
        raise AssertionError("no timeout")
    except asyncio.TimeoutError:
        pass
    await pool.close()
    print("asyncpg: a pool, 1,200 statements, a timeout")


def as_postgres():
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        user = pwd.getpwnam("postgres")
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)


programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o777)
    data = folder + "/data"
    subprocess.run([programs + "/initdb", "-D", data, "-U", "horae", "-A", "trust"], check=True, preexec_fn=as_postgres,
                   stdout=subprocess.DEVNULL, cwd=folder)
    server = subprocess.Popen([programs + "/postgres", "-D", data, "-k", folder, "-c", "listen_addresses="],
                              preexec_fn=as_postgres, stderr=subprocess.DEVNULL, cwd=folder)
    try:
        while not os.path.exists(folder + "/.s.PGSQL.5432"):
            assert server.poll() is None
            asyncio.run(asyncio.sleep(0.05))
        horae.run(main(folder))
    finally:
        server.terminate()
        server.wait()
