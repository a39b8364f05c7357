import { expect, test } from 'bun:test';
import { KeyedMutex } from '../../ledger/kernel/keyed-mutex.ts';

/**
 * Tasks that report when they begin, and end when they are told to. A waiting task begins before
 * its predecessor's caller knows that it ended.
 */
class Tasks {
  readonly begun: string[] = [];
  readonly #turn = new KeyedMutex<string>();
  readonly #all = new Map<string, { ends: PromiseWithResolvers<void>; ended: Promise<void> }>();

  begin(name: string, keys: readonly string[]): void {
    const ends = Promise.withResolvers<void>();
    const ended = this.#turn.alone(keys, async () => {
      this.begun.push(name);
      await ends.promise;
    });
    this.#all.set(name, { ends, ended });
  }

  async end(name: string): Promise<void> {
    this.#all.get(name)?.ends.resolve();
    await this.#all.get(name)?.ended;
  }

  async fail(name: string): Promise<void> {
    this.#all.get(name)?.ends.reject(new Error(`${name} failed`));
    await this.#all.get(name)?.ended;
  }
}

test('tasks of one mutex key run one after the other, as they came', async () => {
  const tasks = new Tasks();
  for (const name of ['first', 'second', 'third']) tasks.begin(name, ['a']);
  expect(tasks.begun).toEqual(['first']);
  await tasks.end('first');
  tasks.begin('fourth', ['a']);
  expect(tasks.begun).toEqual(['first', 'second']);
  await tasks.end('second');
  await tasks.end('third');
  expect(tasks.begun).toEqual(['first', 'second', 'third', 'fourth']);
});

test('tasks of different mutex keys, and of none, begin at once', () => {
  const tasks = new Tasks();
  tasks.begin('a', ['a']);
  tasks.begin('b', ['b']);
  tasks.begin('none', []);
  expect(tasks.begun).toEqual(['a', 'b', 'none']);
});

test('a task of many mutex keys waits for all of them, and holds none of them meanwhile', async () => {
  const tasks = new Tasks();
  tasks.begin('a', ['a']);
  tasks.begin('b', ['b']);
  tasks.begin('both', ['a', 'b']);
  await tasks.end('a');
  tasks.begin('a again', ['a']);
  expect(tasks.begun).toEqual(['a', 'b', 'a again']);
  await tasks.end('b');
  expect(tasks.begun).toEqual(['a', 'b', 'a again']);
  await tasks.end('a again');
  expect(tasks.begun).toEqual(['a', 'b', 'a again', 'both']);
  tasks.begin('b again', ['b']);
  expect(tasks.begun).not.toContain('b again');
  await tasks.end('both');
  expect(tasks.begun).toContain('b again');
});

test('a mutex task that fails rejects, and lets the next one go', async () => {
  const tasks = new Tasks();
  tasks.begin('first', ['a', 'b']);
  tasks.begin('second', ['b']);
  const failed = await tasks.fail('first').catch((error: unknown) => error);
  expect(failed).toEqual(new Error('first failed'));
  expect(tasks.begun).toEqual(['first', 'second']);
});
