// Many calls in one request: what is called while a request is on its way goes with the next one.
//
//     call ─▶ lane of its customer ─▶ one batch of the lane on its way ─▶ answer of each call
//
// Lanes: each customer has one, by the hash of its name, so its calls are done in their order; each
// lane has a batch on its way, so several are. With several nodes each node has lanes of its own,
// and a customer moves to those of its owner: of tracks, when none of its calls is waiting.
// Bounds: calls and bytes that wait, in all. Beyond them a call is rejected and not sent; `ready()`
// waits for room: see admission.ts.
import { Entry, type Item, type Owner } from './entry.ts';
import { QueueFullError } from './errors.ts';
import { Gate } from './gate.ts';
import { Lane, type LaneSettings } from './lane.ts';
import type { Node } from './nodes.ts';
import { timeOf } from './options.ts';
import { Pending } from './pending.ts';

export type CoalescerSettings<A> = LaneSettings<A> & {
  /** Batches on their way at once, to each node. */
  readonly lanes: number;
  /** Whether the calls of a customer are done in their order, also when its owner is learned. */
  readonly isOrdered: boolean;
  readonly waitingMax: number;
  readonly waitingBytesMax: number;
};

export type ItemOptions = {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
};

type Busy<A> = { readonly lane: Lane<A>; waiting: number };

export class Coalescer<A> implements Owner<A> {
  readonly #settings: CoalescerSettings<A>;
  /** By node; null for customers whose owner is not known. */
  readonly #lanes = new Map<Node | null, readonly Lane<A>[]>();
  /** Customers with waiting calls, where there are several nodes. */
  readonly #busy = new Map<string, Busy<A>>();
  readonly gate: Gate;
  readonly #pending = new Pending();

  constructor(settings: CoalescerSettings<A>) {
    this.#settings = settings;
    this.gate = new Gate(settings.waitingMax, settings.waitingBytesMax);
  }

  /** @throws TypeError or RangeError for a time that is none */
  add(item: Item, { signal, timeoutMs: own }: ItemOptions): Promise<A> {
    const { now, timeoutMs: usual } = this.#settings;
    const timeoutMs = own === undefined ? usual : timeOf('timeoutMs', own);
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    if (!this.gate.enter(item.text.length)) {
      const full = new QueueFullError('too many calls are waiting: await ready() before the next');
      return Promise.reject(item.key === null ? full : full.withKey(item.key));
    }
    const lane = this.#laneFor(item.customer);
    const entry = new Entry<A>(item, now() + timeoutMs, {
      owner: this,
      epoch: this.#pending.enter(),
    });
    const sooner = timeoutMs < usual ? timeoutMs : undefined;
    if (signal !== undefined || sooner !== undefined) {
      entry.endEarly({ signal, timeoutMs: sooner, ended: () => lane.ended() });
    }
    lane.add(entry);
    return entry.promise;
  }

  /** Resolves when each call made before has ended. */
  flush(): Promise<void> {
    return this.#pending.flush();
  }

  ended(entry: Entry<A>): void {
    this.gate.leave(entry.text.length);
    this.#pending.leave(entry.epoch);
    if (this.#busy.size === 0) return;
    const busy = this.#busy.get(entry.customer);
    if (busy === undefined) return;
    busy.waiting -= 1;
    if (busy.waiting === 0) this.#busy.delete(entry.customer);
  }

  #laneFor(customer: string): Lane<A> {
    const { nodes, isOrdered } = this.#settings;
    if (!nodes.areSeveral) return this.#pick(null, customer);
    if (!isOrdered) return this.#pick(nodes.ownerOf(customer), customer);
    const busy = this.#busy.get(customer);
    if (busy !== undefined) {
      busy.waiting += 1;
      return busy.lane;
    }
    const lane = this.#pick(nodes.ownerOf(customer), customer);
    this.#busy.set(customer, { lane, waiting: 1 });
    return lane;
  }

  #pick(node: Node | null, customer: string): Lane<A> {
    let lanes = this.#lanes.get(node);
    if (lanes === undefined) {
      lanes = Array.from({ length: this.#settings.lanes }, () => new Lane(this.#settings, node));
      this.#lanes.set(node, lanes);
    }
    return lanes[hashOf(customer) % lanes.length] as Lane<A>;
  }
}

/** FNV-1a, of the UTF-16 units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
