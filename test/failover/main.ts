// `bun run failover`: Tollhouse on a highly available PostgreSQL of its own, whose primary is
// killed, frozen and switched over under load. README.md says what it needs and what it shows.
import { constants } from 'node:os';
import { parseArgs } from 'node:util';
import { Closers } from '../support/closers.ts';
import { withSeed } from '../support/random.ts';
import { runLossless } from './lossless.ts';
import { findPrograms } from './programs.ts';
import { runStale } from './stale.ts';

const { values } = parseArgs({
  options: {
    asynchronous: { type: 'boolean', default: false },
    processes: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    logs: { type: 'string' },
  },
});

const closers = new Closers();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    const end = (): never => process.exit(128 + constants.signals[signal]);
    closers.close().then(end, end);
  });
}

async function main(): Promise<boolean> {
  const run = {
    programs: findPrograms(),
    closers,
    processes: Number(values.processes),
    rounds: Number(values.rounds),
    logs: values.logs,
    say: (line: string) => console.error(line),
  };
  try {
    return await withSeed((random) =>
      (values.asynchronous ? runStale : runLossless)({ ...run, random }),
    );
  } finally {
    await closers.close();
  }
}

try {
  process.exit((await main()) ? 0 : 1);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
