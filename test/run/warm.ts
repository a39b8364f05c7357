// PostgreSQL and Redis that stay for some minutes after a run, so that the next one need not start
// them.
//
// A separate process keeps them (keeper.ts). Each user, each clone and each version of the files
// that start them has its own.
import { createHash } from 'node:crypto';
import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { Graph, ROOT } from './graph.ts';
import { scratch } from './services.ts';

export const SOCKET = 'socket';
const PREFIX = `tollhouse-warm-${userInfo().uid}-`;
/** For all clones of this user, side by side. */
export const DIRECTORIES = `${PREFIX}*`;

const KEEPER = 'test/run/keeper.ts';
const IDLE_MS = 5 * 60_000;
const START_MS_MAX = 60_000;
const POLL_MS = 20;

export interface WarmServices {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** They may stop some time after this. */
  release(): void;
}

/** @throws Error with the last output of what does not start */
export async function holdWarmServices(
  directory = join(scratch(), `${PREFIX}${version()}`),
  idleMs = IDLE_MS,
): Promise<WarmServices> {
  prepare(directory);
  const deadline = performance.now() + START_MS_MAX;
  let keeper: Keeper | undefined;
  while (performance.now() < deadline) {
    const held = await ask(join(directory, SOCKET));
    if (held !== undefined) return held;
    // A keeper that finds another one at work exits. The other may be about to end, so it is tried
    // again.
    if (keeper === undefined || keeper.exitCode === 0) keeper = start(directory, idleMs);
    if (keeper.exitCode !== null && keeper.exitCode !== 0) break;
    await Bun.sleep(POLL_MS);
  }
  throw new Error(`the services of the tests do not start: ${lastWords(directory)}`);
}

/** Files that start other services have another version. */
function version(): string {
  const hash = createHash('sha256').update(`${ROOT} ${Bun.version}`);
  const files = [...new Graph().reach(KEEPER), 'bun.lock'].toSorted();
  for (const file of files) hash.update(file).update(readFileSync(join(ROOT, file)));
  return hash.digest('hex').slice(0, 12);
}

function prepare(directory: string): void {
  mkdirSync(directory, { recursive: true });
  const { uid } = lstatSync(directory);
  if (uid !== userInfo().uid) throw new Error(`${directory} is of another user`);
  // When we are root, the account that runs the services must be able to enter it.
  chmodSync(directory, 0o711);
}

type Keeper = ReturnType<typeof start>;

function start(directory: string, idleMs: number) {
  const log = openSync(join(directory, 'keeper.log'), 'a', 0o600);
  try {
    const keeper = Bun.spawn([process.execPath, join(ROOT, KEEPER), directory, String(idleMs)], {
      cwd: '/',
      // Servers that are given are not for it: it starts its own.
      env: { ...process.env, TEST_DATABASE_URL: undefined, TEST_REDIS_URL: undefined },
      stdio: ['ignore', log, log],
      // Ctrl-C in the terminal of a run must not reach it.
      detached: true,
    });
    keeper.unref();
    return keeper;
  } finally {
    closeSync(log);
  }
}

function lastWords(directory: string): string {
  return readFileSync(join(directory, 'keeper.log'), 'utf8').trimEnd().split('\n').at(-1) ?? '';
}

/** undefined: no keeper runs, or it is about to exit. */
function ask(socket: string): Promise<WarmServices | undefined> {
  return new Promise((resolve) => {
    const keeper: Socket = connect(socket);
    let told = '';
    keeper.on('data', (chunk) => {
      told += chunk.toString();
      if (!told.endsWith('\n')) return;
      const urls = JSON.parse(told) as Pick<WarmServices, 'databaseUrl' | 'redisUrl'>;
      resolve({ ...urls, release: () => keeper.destroy() });
    });
    keeper.on('error', () => resolve(undefined));
    keeper.on('close', () => resolve(undefined));
  });
}
