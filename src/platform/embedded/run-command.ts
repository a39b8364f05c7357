/**
 * Runs a program with our own environment (a proxy may be set there) and without an answer to any
 * question. Does not block the event loop, unlike runOnce() in processes.ts.
 */
export async function run(command: string[]): Promise<{ ok: boolean; lastLine: string }> {
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' });
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const said = error.trim() === '' ? out : error;
  return { ok: (await child.exited) === 0, lastLine: said.trim().split('\n').at(-1) ?? '' };
}
