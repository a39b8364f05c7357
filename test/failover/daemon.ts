// A program of the stand that can be killed, frozen and started again.
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { ServiceAccount } from '../../src/platform/embedded/service-account.ts';
import { daemon, exitOf } from '../../src/platform/embedded/processes.ts';

export type Signal = 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM';

export class Daemon {
  readonly name: string;
  readonly #place: ServiceAccount;
  readonly #command: readonly [file: string, ...args: string[]];
  #child: ChildProcess | undefined;
  #exited: Promise<string> = Promise.resolve('never started');

  constructor(
    name: string,
    place: ServiceAccount,
    command: readonly [file: string, ...args: string[]],
  ) {
    this.name = name;
    this.#place = place;
    this.#command = command;
  }

  start(): void {
    const [file, ...args] = this.#command;
    const { account, directory } = this.#place;
    const logFile = join(directory, `${this.name}.log`);
    const child = daemon({ file, args, account, logFile }).launch();
    this.#child = child;
    this.#exited = exitOf(child);
  }

  signal(signal: Signal): void {
    this.#child?.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#exited;
  }
}

/** Does nothing to a process that has ended. */
export function signalAll(pids: readonly number[], signal: Signal): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended by itself.
    }
  }
}
