// Runs one file of tests in a copy of the tree.

export type Ran = { readonly kind: 'passed' | 'failed' | 'late'; readonly output: string };

/** Of the simulator: each seed is a run of several nodes. */
const SEEDS = '60';

export async function runTests(
  folder: string,
  test: string,
  { args, msMax }: { readonly args: readonly string[]; readonly msMax: number },
): Promise<Ran> {
  // A test's own bound in time is not what finds a fault: the machine may be busy.
  const command = [process.execPath, 'test', '--timeout=600000', ...args, `./${test}`];
  const child = Bun.spawn(command, {
    cwd: folder,
    env: { ...process.env, SEEDS },
    stdout: 'ignore',
    stderr: 'pipe',
    timeout: Math.ceil(msMax),
    killSignal: 'SIGKILL',
  });
  const [output, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (child.signalCode === 'SIGKILL') return { kind: 'late', output };
  return { kind: code === 0 ? 'passed' : 'failed', output };
}
