// When a process ends because its parent ended: with its runner, and with no other process.
import { afterEach, expect, test } from 'bun:test';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const TOLD = `'${process.execPath}' '${fileURLToPath(import.meta.resolve('./told.ts'))}'`;
/** Longer than two looks at the runner. */
const LOOKS_MS = 1300;

/** As if the test's own runner had not been started by a script. */
const { npm_command: _, npm_lifecycle_event: __, ...PLAIN } = process.env;

const started = new Set<number>();

afterEach(() => {
  for (const pid of started) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended as it should.
    }
  }
  started.clear();
});

type Told = {
  readonly outer: ChildProcess;
  readonly pid: number;
  readonly reason: Promise<string>;
};

/** Resolves when the inner process runs. */
async function start(file: string, args: readonly string[]): Promise<Told> {
  const outer = spawn(file, args, { env: PLAIN, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: outer.stdout })[Symbol.asyncIterator]();
  const next = async (word: string): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`it ended without "${word}"`);
      if (value.startsWith(`${word} `)) return value.slice(word.length + 1);
    }
  };
  const pid = Number(await next('pid'));
  started.add(pid);
  started.add(outer.pid!);
  return { outer, pid, reason: next('told') };
}

/** As npx does it: npm, a shell, `bun run`, and the script that it runs. */
const npx = (command: string) => start('npm', ['exec', '--offline', '-c', command]);

test('a SIGTERM to npx alone ends what it started, through a shell and `bun run`', async () => {
  const { outer, reason } = await npx(`'${process.execPath}' exec "${TOLD}; true"; true`);
  outer.kill('SIGTERM');
  expect(await reason).toBe('the end of its runner');
});

test('kill -9 of npx, too', async () => {
  const { outer, reason } = await npx(`${TOLD}; true`);
  outer.kill('SIGKILL');
  expect(await reason).toBe('the end of its runner');
});

// prettier-ignore
const DAEMONS: [string, () => Promise<Told>][] = [
  ['nohup in a shell that ends',                    () => start('sh', ['-c', `nohup ${TOLD} & wait`])],
  ['setsid in a shell that ends',                   () => start('sh', ['-c', `setsid ${TOLD} & wait`])],
  ['setsid in a shell of npx, whose variables it has', () => npx(`setsid ${TOLD} & wait`)],
];
test.each(DAEMONS)('%s: it lives on', async (_what, begin) => {
  const { outer, pid, reason } = await begin();
  const ended = once(outer, 'exit');
  outer.kill('SIGKILL');
  await ended;
  await Bun.sleep(LOOKS_MS);
  process.kill(pid, 'SIGTERM');
  expect(await reason).toBe('SIGTERM');
});
