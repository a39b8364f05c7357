// Starts a process that says when it is told to end (told.ts), through others.
import { expect } from 'bun:test';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const TOLD = `'${process.execPath}' '${fileURLToPath(import.meta.resolve('./told.ts'))}'`;
/** As if the test's own runner had not been started by a script. */
const { npm_command: _, npm_lifecycle_event: __, ...PLAIN } = process.env;

const started = new Set<number>();

/** Ends what is left of them. */
export function endAll(): void {
  for (const pid of started) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended as it should.
    }
  }
  started.clear();
}

export type Told = {
  readonly outer: ChildProcess;
  readonly pid: number;
  readonly reason: Promise<string>;
};

/** Resolves when the inner process runs. */
export async function start(file: string, args: readonly string[]): Promise<Told> {
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
export const npx = (command: string) => start('npm', ['exec', '--offline', '-c', command]);

/** Longer than two looks at the runner. */
const LOOKS_MS = 1300;

/** What began it is killed: it is not told to end, until it is. */
export async function livesOn({ outer, pid, reason }: Told): Promise<void> {
  const ended = once(outer, 'exit');
  outer.kill('SIGKILL');
  await ended;
  await Bun.sleep(LOOKS_MS);
  process.kill(pid, 'SIGTERM');
  expect(await reason).toBe('SIGTERM');
}
