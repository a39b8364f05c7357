// Runs one file of tests in a copy of the tree.

export type Ran = { readonly kind: 'passed' | 'failed' | 'late'; readonly output: string };

/** Fewer cases of each property and fewer seeds of the simulator than the tests have of themselves: they may see more, not less. */
const FEWER = { CASES_MAX: '60', SEEDS: '60' };
/** A test's own bound in time is not what finds a fault: the machine may be busy. */
const TIMEOUT = '--timeout=600000';

const stopping = new AbortController();

/** Those that run, at once: nothing may write into a copy that is removed. */
export function stopTests(): void {
  stopping.abort();
}

export async function runTests(
  folder: string,
  test: string,
  { args, msMax }: { readonly args: readonly string[]; readonly msMax: number },
): Promise<Ran> {
  const command = [process.execPath, 'test', TIMEOUT, ...args, `./${test}`];
  const child = Bun.spawn(command, {
    cwd: folder,
    env: { ...process.env, ...FEWER },
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
