// Runs jobs that do nothing through graphile-worker: node graphile_worker.mjs URL RUNS WORKERS LOOKS
import { readFileSync } from "node:fs";
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import { concurrently, report } from "./measure.mjs";

const [url, runs, workers, looks] = process.argv.slice(2);
const version = JSON.parse(readFileSync("node_modules/graphile-worker/package.json")).version;
const logger = new Logger(() => () => {});
const utils = await makeWorkerUtils({ connectionString: url, maxPoolSize: 32, logger });
await utils.migrate();
let done = 0;
let wake = () => {};
const waiting = new Map();
const runner = await run({
  connectionString: url,
  concurrency: Number(workers),
  maxPoolSize: 32,
  pollInterval: 2000,
  logger,
  noHandleSignals: true,
  taskList: {
    nothing: async ({ look }) => {
      done += 1;
      waiting.get(look)?.();
    },
  },
});
// A job has ended when it is gone from its table, a moment after its task has.
runner.events.on("job:complete", () => wake());

async function rate(count) {
  let ended = 0;
  const all = new Promise((resolve) => {
    wake = () => {
      ended += 1;
      if (ended === count) resolve();
    };
  });
  const started = performance.now();
  await concurrently(count, () => utils.addJob("nothing", {}));
  await all;
  return count / ((performance.now() - started) / 1000);
}

async function latencies(count) {
  const found = [];
  for (let look = 0; look < count; look += 1) {
    const started = performance.now();
    const began = new Promise((resolve) => waiting.set(look, resolve));
    await utils.addJob("nothing", { look });
    await began;
    found.push(performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  return found;
}

await rate(100);
report(version, await rate(Number(runs)), await latencies(Number(looks)));
await runner.stop();
await utils.release();
