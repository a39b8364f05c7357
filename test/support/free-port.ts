// Ports for what is started later, by processes of their own: nothing else may take one in the meantime.
import { createServer } from 'node:net';

/** Below those that systems give to connections, and to whoever listens on any port. */
const FIRST = 20_000;
const COUNT = 10_000;

/** Runs beside each other begin elsewhere. */
let next = Math.floor(Math.random() * COUNT);

/** Of 127.0.0.1; never the same twice in one run. */
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
