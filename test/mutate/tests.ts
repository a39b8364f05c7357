// Runs test files in a copy of the tree.
import type { Copy } from './copies.ts';

export type Ran = { readonly kind: 'passed' | 'failed' | 'late'; readonly output: string };

/**
 * Fewer cases of each property and fewer seeds of the simulator than in the tests, which may
 * therefore find more, not less.
 */
const FEWER = { CASES_MAX: '60', SEEDS: '30' };
/** A test's own time limit must not be what finds a fault: the machine may be busy. */
const TIMEOUT = '--timeout=600000';

const stopping = new AbortController();

/** All running tests: nothing may write into a copy that is removed. */
export function stopTests(): void {
  stopping.abort();
}

export async function runTests(
  { folder, env }: Copy,
  tests: readonly string[],
  { args, msMax }: { readonly args: readonly string[]; readonly msMax: number },
): Promise<Ran> {
  const command = [process.execPath, 'test', TIMEOUT, ...args, ...tests.map((test) => `./${test}`)];
  const child = Bun.spawn(command, {
    cwd: folder,
    env: { ...process.env, ...FEWER, ...env },
    stdout: 'ignore',
    stderr: 'pipe',
    timeout: Math.ceil(msMax),
    killSignal: 'SIGKILL',
    signal: stopping.signal,
  });
  const [output, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (child.signalCode === 'SIGKILL') return { kind: 'late', output };
  return { kind: code === 0 ? 'passed' : 'failed', output };
}
