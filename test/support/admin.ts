import { join } from 'node:path';

const ADMIN = join(import.meta.dir, '../../src/admin.ts');

export type Finished = {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
};

/** Runs the admin command in a process of its own. */
export async function runAdmin(
  args: readonly string[],
  databaseUrl: string | undefined,
  environment: Readonly<Record<string, string>> = {},
  input = '',
): Promise<Finished> {
  const child = Bun.spawn([process.execPath, ADMIN, ...args], {
    env: {
      ...process.env,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      ...environment,
    },
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, stdout, stderr };
}
