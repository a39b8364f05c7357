// `tollhouse` as a process of its own: on Node from one bundled file, as the package has it, and on
// Bun from the source.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestServer } from '../support/server.ts';
import {
  type Ended,
  endedWith,
  type Runner,
  type Running,
  type RunOptions,
  settingsOf,
} from './runner.ts';

const MAIN = join(import.meta.dir, '../../src/cli/main.ts');

export const RUNTIMES = ['node', 'bun'] as const;
export type Runtime = (typeof RUNTIMES)[number];

type Child = Bun.Subprocess<'ignore' | 'pipe', 'pipe', 'pipe'>;

export class Started implements Running {
  readonly ended: Promise<Ended>;
  readonly #child: Child;
  #said = '';

  constructor(child: Child) {
    this.#child = child;
    this.ended = this.#read();
  }

  get said(): string {
    return this.#said;
  }

  interrupt(): void {
    this.#child.kill('SIGINT');
  }

  kill(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): void {
    this.#child.kill(signal);
  }

  async #read(): Promise<Ended> {
    const stderr = this.#child.stderr.text();
    const text = new TextDecoder();
    for await (const chunk of this.#child.stdout)
      this.#said += text.decode(chunk, { stream: true });
    return endedWith(await this.#child.exited, this.#said, await stderr);
  }
}

/** A directory for the bundle and for files of the tests. */
export class Program implements Runner {
  readonly directory: string;
  readonly #bundle: string;
  readonly #runtime: Runtime;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(directory: string, bundle: string, of: Pick<Program, 'env' | 'runtime'>) {
    this.directory = directory;
    this.#bundle = bundle;
    this.#env = of.env;
    this.#runtime = of.runtime;
  }

  static async open(
    server?: Pick<TestServer, 'url' | 'organisation'>,
    runtime: Runtime = 'node',
  ): Promise<Program> {
    const directory = mkdtempSync(join(tmpdir(), 'tollhouse-cli-'));
    const bundle = join(directory, 'tollhouse.mjs');
    if (runtime === 'node') {
      const { outputs } = await Bun.build({ entrypoints: [MAIN], target: 'node', format: 'esm' });
      await Bun.write(bundle, outputs[0]!);
    }
    const env = {
      PATH: process.env['PATH'] ?? '',
      ...(server !== undefined && settingsOf(server)),
    };
    return new Program(directory, bundle, { env, runtime });
  }

  get runtime(): Runtime {
    return this.#runtime;
  }

  get env(): Readonly<Record<string, string>> {
    return this.#env;
  }

  get command(): string[] {
    return this.#runtime === 'node' ? ['node', this.#bundle] : [process.execPath, MAIN];
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  start(args: readonly string[], { env = {}, stdin }: RunOptions = {}): Started {
    return new Started(
      Bun.spawn([...this.command, ...args], {
        env: { ...this.#env, ...env },
        cwd: this.directory,
        stdin: stdin === undefined ? 'ignore' : new Blob([stdin]),
        stdout: 'pipe',
        stderr: 'pipe',
      }) as Child,
    );
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    return this.start(args, options).ended;
  }

  /** By `script`, which gives it a terminal. All that the terminal shows. */
  onTerminal(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    const line = [...this.command, ...args].join(' ');
    const child = Bun.spawn(['script', '-qec', line, '/dev/null'], {
      env: { ...this.#env, TERM: 'xterm', ...env },
      stdout: 'pipe',
    });
    return child.stdout.text();
  }

  /** In bash, where `"$@"` is the command with its arguments. */
  async inBash(
    script: string,
    args: readonly string[],
  ): Promise<{ readonly stdout: string; readonly stderr: string }> {
    const child = Bun.spawn(['bash', '-c', script, 'bash', ...this.command, ...args], {
      env: this.#env,
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { stdout, stderr };
  }

  close(): void {
    rmSync(this.directory, { recursive: true });
  }
}
