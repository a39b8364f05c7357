// `tollhouse` without a process of its own: its function with streams that the test reads. It waits
// for nothing that it chooses itself, so that what it tries again costs no time.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { run } from '../../src/cli/run.ts';
import { VERSION } from '../../src/client/version.ts';
import type { TestServer } from '../support/server.ts';
import { endedWith, type Runner, type Running, type RunOptions, settingsOf } from './runner.ts';

const TIMEOUT_MS = 10_000;

export type InProcess = Runner & {
  /** The waits that were asked for. */
  readonly pauses: readonly number[];
  start(args: readonly string[], options?: Options): Running;
  run(args: readonly string[], options?: Options): ReturnType<Runner['run']>;
};

type Options = RunOptions & {
  readonly isTerminal?: boolean;
  readonly timeoutMs?: number;
};

export function openInProcess(server?: Pick<TestServer, 'url' | 'organisation'>): InProcess {
  const directory = mkdtempSync(join(tmpdir(), 'tollhouse-cli-'));
  const pauses: number[] = [];
  const start = (args: readonly string[], options: Options = {}): Running => {
    const { env = {}, stdin = '', isTerminal = false, timeoutMs = TIMEOUT_MS } = options;
    const [stdout, stderr] = [new Collected(isTerminal), new Collected(isTerminal)];
    const told = new AbortController();
    const ended = run(args, {
      env: { ...(server !== undefined && settingsOf(server)), ...env },
      stdout,
      stderr,
      stdin: () => chunksOf(stdin),
      untilInterrupted: () => told.signal,
      pause(ms) {
        pauses.push(ms);
        return Bun.sleep(0);
      },
      timeoutMs,
      version: VERSION,
    });
    return {
      get said() {
        return stdout.text;
      },
      interrupt: () => told.abort(),
      ended: ended.then((code) => endedWith(code, stdout.text, stderr.text)),
    };
  };
  return {
    pauses,
    path: (name) => join(directory, name),
    start,
    run: (args, options) => start(args, options).ended,
    close: () => rmSync(directory, { recursive: true }),
  };
}

class Collected extends Writable {
  readonly isTTY: boolean;
  text = '';

  constructor(isTerminal: boolean) {
    super();
    this.isTTY = isTerminal;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
