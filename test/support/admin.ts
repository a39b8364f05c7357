import { join } from 'node:path';
import { administer } from '../../src/admin/administer.ts';

const ADMIN = join(import.meta.dir, '../../src/admin.ts');

export type Finished = {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
};

type Environment = Readonly<Record<string, string>>;

/** Runs the admin command in this process. */
export async function runAdmin(
  args: readonly string[],
  databaseUrl: string | undefined,
  environment: Environment = {},
  input = '',
): Promise<Finished> {
  let [stdout, stderr] = ['', ''];
  const exitCode = await administer([...args], {
    environment: environmentOf(databaseUrl, environment),
    input: () => new Blob([input]).stream(),
    print: (line) => void (stdout += `${line}\n`),
    error: (line) => void (stderr += `${line}\n`),
  });
  return { exitCode, stdout, stderr };
}

/** Runs it in a process of its own, as an operator does. */
export async function spawnAdmin(
  args: readonly string[],
  databaseUrl: string | undefined,
  environment: Environment = {},
  input = '',
): Promise<Finished> {
  const child = Bun.spawn([process.execPath, ADMIN, ...args], {
    env: environmentOf(databaseUrl, environment),
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, stdout, stderr };
}

function environmentOf(databaseUrl: string | undefined, environment: Environment) {
  return {
    ...process.env,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    ...environment,
  };
}
