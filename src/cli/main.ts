// The `tollhouse` command, on Node and on Bun: calls the service by its API and nothing else.
//
// The first Ctrl-C ends what runs for long in good order; the second one ends the process. A reader
// that has gone, as in `| head`, ends it quietly.
import process from 'node:process';
import { run } from './run.ts';
import { VERSION } from '../client/version.ts';

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: () => process.stdin,
  untilInterrupted() {
    const told = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => told.abort());
    return told.signal;
  },
  version: VERSION,
});
