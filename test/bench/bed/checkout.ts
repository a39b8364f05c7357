// The files of another commit, in a directory of their own, with their own dependencies.
//
// Holds: of the repository only the commit's objects are read. It may be shallow, a worktree, or
// have changed files; nothing is written there.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Closers } from '../../support/closers.ts';

/** @throws Error that says what to do where the repository does not have the commit */
export async function openCheckout(
  closers: Closers,
  { ref, repository }: { readonly ref: string; readonly repository: string },
): Promise<string> {
  const commit = await commitOf(ref, repository);
  const directory = mkdtempSync(join(tmpdir(), 'tollhouse-before-'));
  closers.push(() => rmSync(directory, { recursive: true, force: true }));
  // When we are root, the account that runs the service can read it.
  chmodSync(directory, 0o755);
  const archive = await run(['git', 'archive', '--format=tar', commit], { cwd: repository });
  await run(['tar', '-x'], { cwd: directory, input: archive });
  await run([process.execPath, 'install', '--frozen-lockfile', '--silent'], { cwd: directory });
  return directory;
}

async function commitOf(ref: string, repository: string): Promise<string> {
  const git = async (...args: string[]): Promise<string | undefined> => {
    const { output, isFine } = await outcomeOf(['git', ...args], { cwd: repository });
    return isFine ? output.toString().trim() : undefined;
  };
  if ((await git('rev-parse', '--git-dir')) === undefined) {
    throw new Error(`--against needs git and a repository: ${repository} is none`);
  }
  const commit = await git('rev-parse', '--verify', '--quiet', `${ref}^{commit}`);
  if (commit !== undefined) return commit;
  const isShallow = (await git('rev-parse', '--is-shallow-repository')) === 'true';
  const advice = '`git fetch --depth 1 origin FULL_HASH` or `git fetch --unshallow` brings it';
  throw new Error(
    isShallow
      ? `--against: this is a shallow clone without the commit ${ref}: ${advice}`
      : `--against: this repository has no commit ${ref}`,
  );
}

type How = { readonly cwd: string; readonly input?: Buffer };

async function run(command: readonly string[], how: How): Promise<Buffer> {
  const { output, isFine, complaint } = await outcomeOf(command, how);
  if (!isFine) throw new Error(`${command.slice(0, 2).join(' ')} failed: ${complaint}`);
  return output;
}

async function outcomeOf(command: readonly string[], { cwd, input }: How) {
  const stdin = input ?? ('ignore' as const);
  const child = Bun.spawn([...command], { cwd, stdin, stdout: 'pipe', stderr: 'pipe' });
  const [output, complaint] = await Promise.all([
    new Response(child.stdout).arrayBuffer(),
    new Response(child.stderr).text(),
  ]);
  return { output: Buffer.from(output), complaint, isFine: (await child.exited) === 0 };
}
