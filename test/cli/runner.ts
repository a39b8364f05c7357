// What runs `tollhouse` for a test: this process (in-process.ts), or one of its own (program.ts).
import type { TestServer } from '../support/server.ts';

export type Ended = {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  // Each test checks the type of what it reads.
  readonly json: () => ReturnType<typeof JSON.parse>;
};

export type RunOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
};

export type Running = {
  /** What it has printed so far. */
  readonly said: string;
  /** Ctrl-C. */
  interrupt(): void;
  readonly ended: Promise<Ended>;
};

export type Runner = {
  /** Of a file of this test. */
  path(name: string): string;
  start(args: readonly string[], options?: RunOptions): Running;
  run(args: readonly string[], options?: RunOptions): Promise<Ended>;
  close(): void;
};

/** Tests of the command, by each way to run it. */
export type Setting = { readonly server: TestServer; readonly runner: Runner };

/** The settings of the command: whom it calls, and as whom. */
export const settingsOf = (server: Pick<TestServer, 'url' | 'organisation'>) => ({
  TOLLHOUSE_URL: server.url,
  TOLLHOUSE_API_KEY: server.organisation.testKey,
});

export const endedWith = (exitCode: number, stdout: string, stderr: string): Ended => ({
  exitCode,
  stdout,
  stderr,
  json: () => JSON.parse(stdout),
});
