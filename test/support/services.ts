/** The servers that the test command started. A test without them fails; it is never skipped. */
export interface TestServices {
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

/** @throws Error that names the command to run, where the servers are missing */
export function testServices(): TestServices {
  return { databaseUrl: needed('TEST_DATABASE_URL'), redisUrl: needed('TEST_REDIS_URL') };
}

/**
 * One of the sixteen databases of Redis, for a file that empties it. Each such file has a number of
 * its own.
 */
export function redisDatabase(number: 9 | 10 | 11): string {
  return new URL(`/${number}`, testServices().redisUrl).href;
}

function needed(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  throw new Error(
    `${name} is not set: these tests need PostgreSQL and Redis. Run "bun run test", or ` +
      '"bun run test <path>" for some of them; it starts both.',
  );
}
