// The test command. test/README.md says how to call it.
//
// It chooses files, starts PostgreSQL and Redis for them, runs `bun test` with several files at
// once and the flags that it was given, prints which files took longest, and exits as `bun test`
// did. Nothing that fails is run again.
import { mkdtempSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { choose } from './choice.ts';
import { openThrowAway, scratch } from './services.ts';
import { runSuite } from './suite.ts';
import { holdWarmServices } from './warm.ts';

interface TestServices {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  release(): Promise<void> | void;
}

/** In CI, and with given servers, nothing is kept after the run. */
async function openTestServices(): Promise<TestServices> {
  const given = ['CI', 'TEST_DATABASE_URL', 'TEST_REDIS_URL'];
  if (given.every((name) => process.env[name] === undefined)) return holdWarmServices();
  const services = await openThrowAway(mkdtempSync(join(scratch(), 'tollhouse-test-')));
  return { ...services, release: () => services.stop() };
}

async function main(): Promise<number> {
  const { suites, flags, needsServices } = choose(process.argv.slice(2));
  const stopping = new AbortController();
  const { signal } = stopping;
  process.on('SIGINT', () => stopping.abort('SIGINT'));
  process.on('SIGTERM', () => stopping.abort('SIGTERM'));
  const services = needsServices ? await openTestServices() : undefined;
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
    await services?.release();
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
