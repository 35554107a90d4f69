// Runs jobs that do nothing through pg-boss: node pg_boss.mjs URL RUNS WORKERS LOOKS
import { readFileSync } from "node:fs";
import PgBoss from "pg-boss";
import { concurrently, report } from "./measure.mjs";

const [url, runs, workers, looks] = process.argv.slice(2);
const version = JSON.parse(readFileSync("node_modules/pg-boss/package.json")).version;
const boss = new PgBoss({ connectionString: url, max: 32, supervise: false, schedule: false });
await boss.start();

// Its own `work` asks for jobs every half second at most. For the rate each worker asks again as soon as it is done, which is the fastest it can be used.
async function rate(queue, count) {
  await boss.createQueue(queue);
  let done = 0;
  const started = performance.now();
  const worker = async () => {
    while (done < count) {
      const jobs = (await boss.fetch(queue, { batchSize: 1 })) ?? [];
      if (jobs.length === 0) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        continue;
      }
      await boss.complete(queue, jobs[0].id);
      done += 1;
    }
  };
  const working = Promise.all(Array.from({ length: Number(workers) }, worker));
  await concurrently(count, () => boss.send(queue, {}));
  await working;
  return count / ((performance.now() - started) / 1000);
}

async function latencies(queue, count) {
  await boss.createQueue(queue);
  const waiting = new Map();
  await boss.work(queue, { pollingIntervalSeconds: 0.5, batchSize: 1 }, async ([job]) => waiting.get(job.data.look)?.());
  const found = [];
  for (let look = 0; look < count; look += 1) {
    const started = performance.now();
    const began = new Promise((resolve) => waiting.set(look, resolve));
    await boss.send(queue, { look });
    await began;
    found.push(performance.now() - started);
  }
  return found;
}

await rate("warm", 100);
report(version, await rate("rate", Number(runs)), await latencies("latency", Number(looks)));
await boss.stop({ graceful: false });
