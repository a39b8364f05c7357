// Ports for processes that start later: nothing else may take one in the meantime.
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';

/** Below the ephemeral ports of the system, which also go to listeners on port 0. */
const FIRST = 20_000;
const COUNT = 10_000;

/**
 * Each worker of a run has a part of them: one that came to the ports of another would take each of
 * them at the same time as that one does.
 */
const PART = Math.floor(COUNT / (availableParallelism() + 1));
const WORKER = Number(process.env['BUN_TEST_WORKER_ID'] ?? 1) - 1;
/** Runs beside one another have other parts, as far as that can be. */
const BEGIN = process.ppid * 37 + WORKER * PART;
/** A worker that loads this for each file does not begin where the file before did. */
let next = Math.floor(Math.random() * PART);

/** Free on 127.0.0.1; never the same twice in one run. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + ((BEGIN + (next++ % PART)) % COUNT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
