// Ports for processes that start later: nothing else may take one in the meantime.
import { createServer } from 'node:net';

/** Below the ephemeral ports of the system, which also go to listeners on port 0. */
const FIRST = 20_000;
const COUNT = 10_000;

/** Parallel runs begin at different ports. */
let next = Math.floor(Math.random() * COUNT);

/** Free on 127.0.0.1; never the same twice in one run. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + (next++ % COUNT);
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
