// `tollhouse` as a process of its own: on Node from one bundled file, as the package has it, and on
// Bun from the source.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestServer } from '../support/server.ts';

const MAIN = join(import.meta.dir, '../../src/cli/main.ts');

export const RUNTIMES = ['node', 'bun'] as const;
export type Runtime = (typeof RUNTIMES)[number];

export type Ended = {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  // Each test checks the type of what it reads.
  readonly json: () => ReturnType<typeof JSON.parse>;
};

type Options = {
  readonly runtime?: Runtime;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly cwd?: string;
};

export type Child = Bun.Subprocess<'ignore' | 'pipe', 'pipe', 'pipe'>;

/** A directory for the bundle and for files of the tests. */
export class Program {
  readonly directory: string;
  readonly #bundle: string;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(directory: string, bundle: string, env: Readonly<Record<string, string>>) {
    this.directory = directory;
    this.#bundle = bundle;
    this.#env = env;
  }

  static async open(server?: Pick<TestServer, 'url' | 'organisation'>): Promise<Program> {
    const directory = mkdtempSync(join(tmpdir(), 'tollhouse-cli-'));
    const { outputs } = await Bun.build({ entrypoints: [MAIN], target: 'node', format: 'esm' });
    const bundle = join(directory, 'tollhouse.mjs');
    await Bun.write(bundle, outputs[0]!);
    const env = {
      PATH: process.env['PATH'] ?? '',
      ...(server !== undefined && {
        TOLLHOUSE_URL: server.url,
        TOLLHOUSE_API_KEY: server.organisation.testKey,
      }),
    };
    return new Program(directory, bundle, env);
  }

  command(runtime: Runtime = 'node'): string[] {
    return runtime === 'node' ? ['node', this.#bundle] : [process.execPath, MAIN];
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  start(args: readonly string[], options: Options = {}): Child {
    const { runtime, env = {}, stdin, cwd = this.directory } = options;
    return Bun.spawn([...this.command(runtime), ...args], {
      env: { ...this.#env, ...env },
      cwd,
      stdin: stdin === undefined ? 'ignore' : new Blob([stdin]),
      stdout: 'pipe',
      stderr: 'pipe',
    }) as Child;
  }

  async run(args: readonly string[], options: Options = {}): Promise<Ended> {
    return ended(this.start(args, options));
  }

  close(): void {
    rmSync(this.directory, { recursive: true });
  }
}

export async function ended(child: Child): Promise<Ended> {
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, stdout, stderr, json: () => JSON.parse(stdout) };
}
