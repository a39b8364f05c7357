// The test command. test/README.md says how to call it.
//
// It chooses files, starts PostgreSQL and Redis for them, installs Chromium where they need it,
// runs `bun test` with several files at once and the flags that it was given, and prints what took
// long and what failed. It exits with 1 after a failure, or where no test ran. Nothing that fails
// is run again.
import { mkdtempSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { chromiumPath } from '../pages/chromium.ts';
import { choose } from './choice.ts';
import { type Ran, runCommand } from './night.ts';
import { openThrowAway, scratch } from './services.ts';
import { type Outcome, runSuite } from './suite.ts';
import { isGreen, summaryOf } from './summary.ts';
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
  const began = performance.now();
  const { suites, flags, needsServices, needsBrowser, kinds, commands } = choose(
    process.argv.slice(2),
  );
  const stopping = new AbortController();
  const { signal } = stopping;
  process.on('SIGINT', () => stopping.abort('SIGINT'));
  process.on('SIGTERM', () => stopping.abort('SIGTERM'));
  // The files that need one say so themselves.
  if (needsBrowser) await chromiumPath().catch((error: unknown) => console.error(String(error)));
  const services = needsServices ? await openTestServices() : undefined;
  const env = {
    TEST_DATABASE_URL: services?.databaseUrl ?? '',
    TEST_REDIS_URL: services?.redisUrl ?? '',
  };
  const outcomes: Outcome[] = [];
  try {
    for (const suite of suites) {
      if (signal.aborted) break;
      const own = { ...suite, env: { ...env, ...suite.env } };
      outcomes.push(await runSuite(own, { flags, signal }));
    }
  } finally {
    await services?.release();
  }
  const ran: Ran[] = [];
  for (const command of commands) {
    if (!signal.aborted) ran.push(await runCommand(command, signal));
  }
  if (signal.aborted) return 128 + constants.signals[signal.reason as NodeJS.Signals];
  const run = { outcomes, commands: ran, ms: performance.now() - began };
  console.log(summaryOf(run, kinds));
  return isGreen(run) ? 0 : 1;
}

process.exit(
  await main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }),
);
