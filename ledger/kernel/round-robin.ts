import { assert } from './assert.ts';

/**
 * What waits under several keys: that of one key in the order in which it came, the keys in turn.
 */
export class RoundRobin<T> {
  /** The key whose turn is next comes first. None is empty. */
  readonly #waiting = new Map<string, Queue<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(key: string, item: T): void {
    this.#queueOf(key).push(item);
    this.#size += 1;
  }

  /** It waited before those of its key. */
  unshift(key: string, item: T): void {
    this.#queueOf(key).unshift(item);
    this.#size += 1;
  }

  /**
   * What takes one each time it is called: the first of the next key whose first is accepted. False
   * where none is left. Who was refused is not asked again by it, and is first for the next one: so
   * to take all costs what there is, whatever is refused.
   */
  taking(accept: (item: T) => boolean): () => boolean {
    // A key that is served goes behind all others, and is met again there.
    const turns = this.#waiting.entries();
    return () => {
      for (let turn = turns.next(); turn.done !== true; turn = turns.next()) {
        const [key, queue] = turn.value;
        if (!accept(queue.first)) continue;
        queue.shift();
        this.#size -= 1;
        this.#waiting.delete(key);
        if (queue.size > 0) this.#waiting.set(key, queue);
        return true;
      }
      return false;
    };
  }

  #queueOf(key: string): Queue<T> {
    const known = this.#waiting.get(key);
    if (known !== undefined) return known;
    const queue = new Queue<T>();
    this.#waiting.set(key, queue);
    return queue;
  }
}

/**
 * What was taken is let go of now and then: to move the rest for each of them would cost the square
 * of their number.
 */
class Queue<T> {
  #items: T[] = [];
  #taken = 0;

  get size(): number {
    return this.#items.length - this.#taken;
  }

  /** Not of an empty one. */
  get first(): T {
    assert(this.size > 0, 'no key waits without anything');
    return this.#items[this.#taken] as T;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  unshift(item: T): void {
    if (this.#taken === 0) this.#items.unshift(item);
    else {
      this.#taken -= 1;
      this.#items[this.#taken] = item;
    }
  }

  shift(): void {
    this.#taken += 1;
    if (this.#taken < KEPT_MAX || this.#taken * 2 < this.#items.length) return;
    this.#items = this.#items.slice(this.#taken);
    this.#taken = 0;
  }
}

const KEPT_MAX = 64;
