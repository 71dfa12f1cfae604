"""Slow, cut, pipelined and hostile clients, for minutes, beside an honest one: python3 tests/http/soak.py KAISCHED [--minutes 10].

The honest client's 99th percentile has to stay below 50 ms, and the memory of the server must not grow after the first
tenth of the time. Ends with 1 if not. Prints a line each ten seconds."""

import argparse
import asyncio
import http.client
import json
import multiprocessing
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOKEN = "0123456789abcdef-soak"
CLUSTER = {"schema": "kaisched-cluster/1", "queue": [{"name": "q"}],
           "node": [{"name": "n", "capacity": {"cpu": 8000, "gpu": 2000, "pods": 10}}],
           "pod_group": [{"name": "a", "queue": "q"}], "pod": [{"name": "a-0", "group": "a", "request": {"gpu": 1000}}]}  # fmt: skip
HEAD = b"GET /v1/health HTTP/1.1\r\nHost: x\r\n"
CHUNKED = b"POST /v1/what-if HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + TOKEN.encode() + b"\r\nTransfer-Encoding: chunked\r\n\r\n"


async def silent(reader, writer, draw):
    await reader.read(1)


async def drips(reader, writer, draw):
    for byte in HEAD * 100:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(draw.uniform(0.01, 1))


async def is_cut(reader, writer, draw):
    whole = CHUNKED + b"3\r\nabc\r\n0\r\n\r\n"
    writer.write(whole[: draw.randrange(len(whole))])
    await writer.drain()
    await asyncio.sleep(draw.uniform(0, 0.2))


async def pipelines(reader, writer, draw):
    writer.write((HEAD + b"\r\n") * 50)
    await writer.drain()
    await reader.read(100)


async def takes_no_answer(reader, writer, draw):
    writer.write((HEAD + b"\r\n") * 500)
    await asyncio.sleep(draw.uniform(0, 2))


async def endless_trailer(reader, writer, draw):
    writer.write(CHUNKED + b"0\r\n")
    for _ in range(200):
        writer.write(b"T: " + b"a" * 1000 + b"\r\n")
        await writer.drain()


async def endless_header(reader, writer, draw):
    writer.write(HEAD)
    for _ in range(200):
        writer.write(b"A: " + b"a" * 1000 + b"\r\n")
        await writer.drain()


async def large_chunks(reader, writer, draw):
    writer.write(CHUNKED)
    for _ in range(50):
        writer.write(b"8000\r\n" + b"b" * 0x8000 + b"\r\n")
        await writer.drain()
    await reader.read(100)


async def noise(reader, writer, draw):
    writer.write(draw.randbytes(draw.randrange(1, 3000)))
    await writer.drain()
    await reader.read(100)


async def smuggles(reader, writer, draw):
    writer.write(HEAD + draw.choice([b"Transfer-Encoding: x", b"Host: y", b"Content-Length: 1\r\nContent-Length: 2", b" folded"]) + b"\r\n\r\n" + HEAD + b"\r\n")
    await writer.drain()
    await reader.read(1000)


WAYS = [silent, silent, silent, drips, drips, is_cut, pipelines, takes_no_answer, endless_trailer, endless_header, large_chunks, noise, smuggles]


async def hostile(port, number, end):
    draw = random.Random(number)
    while time.monotonic() < end:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
            continue
        try:
            await asyncio.wait_for(draw.choice(WAYS)(reader, writer, draw), draw.uniform(0.5, 5))
        except (OSError, asyncio.TimeoutError):
            pass
        if draw.random() < 0.5:
            writer.transport.abort()
        else:
            writer.close()
        await asyncio.sleep(draw.uniform(0, 0.5))


def run_hostile(port, first, count, end):
    async def all_of_them():
        await asyncio.gather(*(hostile(port, number, end) for number in range(first, first + count)))

    asyncio.run(all_of_them())


def memory_of(process):
    with open(f"/proc/{process}/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def ask(port, connection):
    """(connection, seconds of an honest question, whether it had to connect anew)"""
    begun = time.monotonic()
    anew = False
    for _ in range(20):
        try:
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", "/v1/cluster", headers={"Authorization": f"Bearer {TOKEN}"})
            answer = connection.getresponse()
            answer.read()
            if answer.status == 200:
                return connection, time.monotonic() - begun, anew
        except (OSError, http.client.HTTPException):
            pass
        connection, anew = None, True
    sys.exit("the honest client got no answer")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--clients", type=int, default=1000)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cluster, token = Path(folder, "cluster.json"), Path(folder, "token")
        cluster.write_text(json.dumps(CLUSTER), encoding="utf-8")
        token.write_text(TOKEN, encoding="utf-8")
        token.chmod(0o600)
        server = subprocess.Popen([told.program, "serve", cluster, "--listen", "127.0.0.1:0", "--token-file", token, "--json"], stdout=subprocess.PIPE)
        text = b""
        while b"}" not in text:
            text += server.stdout.readline()
        port = int(json.loads(text)["address"].rsplit(":", 1)[1])
        begun = time.monotonic()
        end = begun + told.minutes * 60
        crowd = multiprocessing.Process(target=run_hostile, args=(port, 0, told.clients, end))
        crowd.start()
        times, late, memory, connection, renewed, shown = [], [], [], None, 0, begun
        while time.monotonic() < end:
            connection, seconds, anew = ask(port, connection)
            renewed += anew
            times.append(seconds)
            time.sleep(0.005)
            if time.monotonic() - shown >= 10:
                shown = time.monotonic()
                memory.append(memory_of(server.pid))
                part = sorted(times)
                late.append(part[len(part) * 99 // 100])
                print(f"{shown - begun:5.0f} s: {len(times)} answers, p50 {part[len(part) // 2] * 1000:.1f} ms, p99 {late[-1] * 1000:.1f} ms, {renewed} connections made anew, {memory[-1]:.1f} MiB", flush=True)
        crowd.terminate()
        server.terminate()
        stopping = time.monotonic()
        status = server.wait(timeout=10)
        print(f"ended with {status} after {time.monotonic() - stopping:.2f} s")
        settled = memory[len(memory) // 10 :]
        grows = settled[-1] > settled[0] * 1.1 + 2
        return 1 if late[-1] >= 0.05 or grows or status != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
