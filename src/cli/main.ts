// The `tollhouse` command, on Node and on Bun: calls the service by its API and nothing else.
//
// The first Ctrl-C ends what runs for long in good order; the second one ends the process. A reader
// that has gone, as in `| head`, ends it quietly; a disk that is full ends it with an error.
import { writeSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, Refused } from './command.ts';
import { reportOf } from './errors.ts';
import { run } from './run.ts';
import { VERSION } from '../client/version.ts';

/** Somebody waits for the answer. */
const TIMEOUT_MS = 10_000;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  const refused = new Refused(`cannot write the output: ${error.message}`);
  try {
    // At once: the process ends here.
    writeSync(process.stderr.fd, `${reportOf(refused, process.argv)}\n`);
  } finally {
    process.exit(EXIT.failed);
  }
});
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed);
});

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
  pause: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
  timeoutMs: TIMEOUT_MS,
  version: VERSION,
});
