// What the rivals written for Node share.

const AT_ONCE = 32;

// Does something so many times, a fixed number of them at once.
export async function concurrently(count, action) {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      next += 1;
      await action();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

// Prints one line of JSON, as every contender does.
export function report(version, rate, latencies) {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (percent) => sorted[Math.max(1, Math.ceil((sorted.length * percent) / 100)) - 1];
  console.log(JSON.stringify({ version, runs_per_s: rate, p50_ms: at(50), p99_ms: at(99) }));
}
