"""Runs jobs that do nothing through procrastinate: procrastinate_queue.py URL RUNS WORKERS LOOKS."""

import asyncio
import json
import math
import sys
import time
from importlib.metadata import version

import procrastinate

AT_ONCE = 32


class Count:
    """Counts what was executed, and wakes who waits for it."""

    def __init__(self) -> None:
        """Starts at zero."""
        self.done = 0
        self.changed = asyncio.Event()

    def add(self) -> None:
        """Counts one more."""
        self.done += 1
        self.changed.set()

    async def reaches(self, target: int) -> None:
        """Waits until so many were executed."""
        while self.done < target:
            self.changed.clear()
            await self.changed.wait()


async def rate(task, count: Count, runs: int) -> float:
    """Measures from the first call to the last job."""
    target = count.done + runs
    places = asyncio.Semaphore(AT_ONCE)

    async def defer() -> None:
        async with places:
            await task.defer_async()

    started = time.perf_counter()
    await asyncio.gather(*(defer() for _ in range(runs)))
    await count.reaches(target)
    return runs / (time.perf_counter() - started)


async def latencies(task, count: Count, looks: int) -> list[float]:
    """Measures from the call to the start of the work, one job after the other."""
    found = []
    for _ in range(looks):
        started = time.perf_counter()
        target = count.done + 1
        await task.defer_async()
        await count.reaches(target)
        found.append((time.perf_counter() - started) * 1000)
        await asyncio.sleep(0.03)
    return sorted(found)


async def main() -> None:
    """Measures, and prints one line of JSON."""
    url, runs, workers, looks = sys.argv[1:]
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, max_size=32))
    count = Count()

    @app.task(name="nothing")
    async def nothing() -> None:
        count.add()

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        worker = asyncio.create_task(app.run_worker_async(concurrency=int(workers), install_signal_handlers=False))
        await rate(nothing, count, 100)
        per_second = await rate(nothing, count, int(runs))
        found = await latencies(nothing, count, int(looks))
        at = lambda percent: found[max(1, math.ceil(len(found) * percent / 100)) - 1]
        print(json.dumps({"version": version("procrastinate"), "runs_per_s": per_second, "p50_ms": at(50), "p99_ms": at(99)}))
        worker.cancel()


asyncio.run(main())
