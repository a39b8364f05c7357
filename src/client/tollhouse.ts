// The client: `new Tollhouse({ apiKey, baseUrl })`.
import { onAbort } from './abort.ts';
import { Admission } from './admission.ts';
import type { Caller, CallOptions, Input } from './caller.ts';
import { Coalescer } from './coalescer.ts';
import { ClosedError } from './errors.ts';
import { type StreamOptions, streamEvents } from './event-stream.ts';
import type { Hooks } from './hooks.ts';
import { newKeys } from './keys.ts';
import { Lease, type LeaseParams } from './lease.ts';
import {
  type CheckAnswer,
  type CheckParams,
  checkOf,
  guessOf,
  isUnasked,
  type OnUnavailable,
  textOf,
  trackOf,
  type TrackParams,
  useOf,
} from './metering.ts';
import { Nodes } from './nodes.ts';
import type { OperationId } from './operations.ts';
import { countOf, keyOf, TIMER_MS_MAX, timeOf } from './options.ts';
import { Pending } from './pending.ts';
import { type Resources, resourcesOf } from './resource.ts';
import { type Chance, type Fetch, Transport } from './transport.ts';
import type { CheckBody, CheckResult, Event, TrackBody, TrackResult } from './types.ts';

export type TollhouseOptions = {
  /** Null where a server in between adds it. */
  readonly apiKey: string | null;
  /** One address, or one for each node. */
  readonly baseUrl: string | readonly string[];
  /** For a whole call, with every attempt and wait: 30 s unless said otherwise. */
  readonly timeoutMs?: number;
  /** After which a silent attempt is given up: 10 s unless said otherwise. */
  readonly attemptTimeoutMs?: number;
  /** Of checks: `timeoutMs` unless said otherwise. */
  readonly checkTimeoutMs?: number;
  /** What a check answers when the service cannot be asked: `throw` unless said otherwise. */
  readonly onUnavailable?: OnUnavailable;
  /**
   * Calls of `check` that ask, of those that record or hold, and of `track`, that may wait here:
   * 50,000 of each unless said otherwise.
   */
  readonly waitingMax?: number;
  /** Batches on their way at once, to each node. */
  readonly batchesInFlight?: number;
  /** Keeps a worker alive while calls are on their way: `(work) => ctx.waitUntil(work)`. */
  readonly waitUntil?: (work: Promise<void>) => void;
  readonly hooks?: Hooks;
  /** In place of the global one. */
  readonly fetch?: Fetch;
  /** Time and chance, for tests. */
  readonly chance?: Partial<Chance>;
};

export type CheckOptions = CallOptions & { readonly onUnavailable?: OnUnavailable };

const LANES = 2;
const BATCH = { itemsMax: 500, bytesMax: 1_000_000, waitingBytesMax: 64 * 1024 * 1024 };
const CHECKS = {
  operation: 'checkEntitlements',
  path: '/check/batch',
  field: 'checks',
  isOrdered: false,
} as const;
/** Checks that record or hold: apart, so that those that only ask wait for no disk. */
const USES = { ...CHECKS, isOrdered: true } as const;
const TRACKS = {
  operation: 'trackUsages',
  path: '/track/batch',
  field: 'tracks',
  isOrdered: true,
} as const;

/** `tollhouse.customers`, and the other resources. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the constructor sets them
export interface Tollhouse extends Omit<Resources, 'events'> {
  readonly events: Resources['events'] & {
    /** Events as they happen, without a gap: `for await (const event of events.stream())`. */
    stream(options?: StreamOptions): AsyncGenerator<Event, void, undefined>;
  };
}

export class Tollhouse implements Caller {
  readonly #transport: Transport;
  readonly #checks: Coalescer<CheckResult>;
  readonly #uses: Coalescer<CheckResult>;
  readonly #tracks: Coalescer<TrackResult>;
  readonly #newKey = newKeys();
  readonly #now: () => number;
  readonly #onUnavailable: OnUnavailable;
  /** Requests of one call each that are on their way. */
  readonly #singles = new Pending();
  readonly #admission: Admission;
  readonly #leases = new Set<Lease>();
  readonly #closing = new AbortController();
  readonly #waitUntil: TollhouseOptions['waitUntil'];
  #closed = false;

  constructor(options: TollhouseOptions) {
    const { baseUrl, waitUntil } = options;
    const apiKey = keyOf(options.apiKey);
    const timeoutMs = timeOf('timeoutMs', options.timeoutMs ?? 30_000);
    const nodes = new Nodes(typeof baseUrl === 'string' ? [baseUrl] : baseUrl);
    const chance = { ...CHANCE, ...options.chance };
    this.#now = chance.now;
    this.#onUnavailable = options.onUnavailable ?? 'throw';
    this.#waitUntil = waitUntil;
    const transport = new Transport({
      ...chance,
      apiKey,
      nodes,
      timeoutMs,
      attemptTimeoutMs: timeOf('attemptTimeoutMs', options.attemptTimeoutMs ?? 10_000),
      hooks: options.hooks ?? {},
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
      newKey: this.#newKey,
    });
    this.#transport = transport;
    const waitingMax = countOf('waitingMax', options.waitingMax ?? 50_000);
    const lanes = countOf('batchesInFlight', options.batchesInFlight ?? LANES);
    const each = { ...chance, ...BATCH, transport, nodes, waitUntil, waitingMax, lanes };
    this.#checks = new Coalescer({
      ...each,
      ...CHECKS,
      timeoutMs: timeOf('checkTimeoutMs', options.checkTimeoutMs ?? timeoutMs),
      answerOf: checkOf,
    });
    this.#uses = new Coalescer({ ...each, ...USES, timeoutMs, answerOf: useOf });
    this.#tracks = new Coalescer({ ...each, ...TRACKS, timeoutMs, answerOf: trackOf });
    this.#admission = new Admission([this.#checks.gate, this.#uses.gate, this.#tracks.gate]);
    const resources = resourcesOf(this);
    const stream = (of?: StreamOptions) =>
      streamEvents({ ...chance, transport, closed: this.#closing.signal }, of);
    Object.assign(this, resources, { events: { ...resources.events, stream } });
  }

  /** Any operation of the document, by its name. */
  call<T>(operation: OperationId, input: Input, options?: CallOptions): Promise<T> {
    if (this.#closed) return Promise.reject(new ClosedError());
    return this.#alone(operation, input, options);
  }

  /**
   * Whether a customer may use a feature. Goes with others in a batch; with `consume` or `reserve`
   * under its own key, so that it counts once however often it is sent.
   */
  check(params: CheckParams, options: CheckOptions = {}): Promise<CheckAnswer> {
    if (this.#closed) return Promise.reject(new ClosedError());
    let answer: Promise<CheckAnswer>;
    try {
      answer = this.#asked(params, options);
    } catch (error) {
      const wrong = error as Error;
      return Promise.reject(wrong);
    }
    const policy = options.onUnavailable ?? this.#onUnavailable;
    if (policy === 'throw') return answer;
    return answer.catch((error: unknown) => {
      if (isUnasked(error)) return guessOf(params, policy === 'allow');
      throw error;
    });
  }

  /** Records usage: durable when it resolves. Goes with others in a batch, under its own key. */
  track(params: TrackParams, options: CallOptions = {}): Promise<TrackResult> {
    if (this.#closed) return Promise.reject(new ClosedError());
    try {
      return this.#track(params, options);
    } catch (error) {
      const wrong = error as Error;
      return Promise.reject(wrong);
    }
  }

  #track(params: TrackBody, options: CallOptions): Promise<TrackResult> {
    const own = params.idempotencyKey;
    const key = own ?? options.idempotencyKey ?? this.#newKey();
    const text = textOf(params, own === undefined ? key : null);
    return this.#tracks.add({ text, customer: nameOf(params), key }, options);
  }

  /**
   * Holds a slice of a customer's balance, which `lease.take(n)` gives out from memory. Resolves
   * when it has asked for the first slice, whatever it got.
   */
  async lease(params: LeaseParams): Promise<Lease> {
    if (this.#closed) throw new ClosedError();
    const name = nameOf(params);
    const lease = new Lease(
      {
        reserve: (body, idempotencyKey) =>
          this.#alone('checkEntitlement', { body }, { idempotencyKey }, name),
        commit: (id, value) =>
          this.#alone('commitReservation', { path: { id }, body: { value } }, {}, name),
        release: (id) => this.#alone('releaseReservation', { path: { id } }, {}, name),
        extend: (id, expiresIn) =>
          this.#alone('extendReservation', { path: { id }, body: { expiresIn } }, {}, name),
        now: this.#now,
        newKey: this.#newKey,
        closed: (ended) => this.#leases.delete(ended),
      },
      params,
    );
    this.#leases.add(lease);
    try {
      await lease.ready();
    } catch (error) {
      this.#leases.delete(lease);
      throw error;
    }
    return lease;
  }

  /**
   * Resolves in turn, when there is room for another call, and keeps a place for it: for a call
   * that is made at once, before anything else is awaited.
   */
  ready(): Promise<void> {
    return this.#admission.ready();
  }

  /** Resolves when each call made before has ended. What failed rejects its own promise. */
  async flush(): Promise<void> {
    const parts = [this.#checks, this.#uses, this.#tracks, this.#singles];
    await Promise.all(parts.map((part) => part.flush()));
  }

  /**
   * Takes no more calls, ends streams, closes leases, and resolves when each call has ended.
   * Rejects where something that was taken of a lease could not be counted.
   */
  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.abort(new ClosedError());
    const leases = await Promise.allSettled(Array.from(this.#leases, (lease) => lease.close()));
    await this.flush();
    for (const lease of leases) if (lease.status === 'rejected') throw lease.reason;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #asked(params: CheckBody, options: CallOptions): Promise<CheckResult> {
    const customer = nameOf(params);
    const { consume, reserve, idempotencyKey: own } = params;
    if (consume !== true && reserve !== true) {
      return this.#checks.add({ text: textOf(params, null), customer, key: null }, options);
    }
    const key = own ?? options.idempotencyKey ?? this.#newKey();
    const text = textOf(params, own === undefined ? key : null);
    return this.#uses.add({ text, customer, key }, options);
  }

  /** Asks the node of the customer. */
  #alone<T>(
    operation: OperationId,
    input: Input,
    options?: CallOptions,
    customer?: string,
  ): Promise<T> {
    return this.#single(this.#transport.call<T>(operation, input, options, customer));
  }

  /** `flush` waits for it, too. */
  async #single<T>(call: Promise<T>): Promise<T> {
    const epoch = this.#singles.enter();
    this.#waitUntil?.(call.then(noop, noop));
    try {
      return await call;
    } finally {
      this.#singles.leave(epoch);
    }
  }
}

function nameOf({ externalCustomerId, customerId }: CheckBody | TrackBody): string {
  return externalCustomerId ?? customerId ?? '';
}

function noop(): void {}

const CHANCE: Chance = { now: () => performance.now(), random: () => Math.random(), sleep };

/** Rejects with the signal's reason. */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      off?.();
      if (signal?.aborted === true) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, Math.min(ms, TIMER_MS_MAX));
    const off = signal === undefined ? undefined : onAbort(signal, end);
    if (signal?.aborted === true) end();
  });
}
