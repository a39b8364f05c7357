// The test command. test/README.md says how to call it.
//
// It chooses files, starts PostgreSQL and Redis for them, runs `bun test` with several files at once
// and the flags that it was given, prints which files took longest, and exits as `bun test` did.
// Nothing that fails is run again.
import { constants } from 'node:os';
import { choose } from './choice.ts';
import { openThrowAway } from './services.ts';
import { runSuite } from './suite.ts';

async function main(): Promise<number> {
  const { suites, flags, needsServices } = choose(process.argv.slice(2));
  const stopping = new AbortController();
  const { signal } = stopping;
  process.on('SIGINT', () => stopping.abort('SIGINT'));
  process.on('SIGTERM', () => stopping.abort('SIGTERM'));
  const services = needsServices ? await openThrowAway() : undefined;
  const env = {
    TEST_DATABASE_URL: services?.databaseUrl ?? '',
    TEST_REDIS_URL: services?.redisUrl ?? '',
  };
  let code = 0;
  try {
    for (const suite of suites) {
      if (signal.aborted) break;
      const outcome = await runSuite(
        { ...suite, env: { ...env, ...suite.env } },
        { flags, signal },
      );
      code ||= outcome;
    }
  } finally {
    await services?.stop();
  }
  if (signal.aborted) return 128 + constants.signals[signal.reason as NodeJS.Signals];
  return code;
}

process.exit(
  await main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }),
);
