// The client: `new Tollhouse({ apiKey, baseUrl })`.
import type { Caller, CallOptions, Input } from './caller.ts';
import { ClosedError } from './errors.ts';
import type { Hooks } from './hooks.ts';
import { newKeys } from './keys.ts';
import { Nodes } from './nodes.ts';
import type { OperationId } from './operations.ts';
import { type Resources, resourcesOf } from './resources/resources.ts';
import { type Fetch, Transport } from './transport.ts';

export type TollhouseOptions = {
  /** Null where a server in between adds it. */
  readonly apiKey: string | null;
  /** One address, or one for each node. */
  readonly baseUrl: string | readonly string[];
  /** For a whole call, with every attempt and wait: 30 s unless said otherwise. */
  readonly timeoutMs?: number;
  /** After which a silent attempt is given up: 10 s unless said otherwise. */
  readonly attemptTimeoutMs?: number;
  readonly hooks?: Hooks;
  /** In place of the global one. */
  readonly fetch?: Fetch;
};

/** `tollhouse.customers`, and the other resources. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the constructor sets them
export interface Tollhouse extends Resources {}

export class Tollhouse implements Caller {
  readonly #transport: Transport;
  #closed = false;

  constructor(options: TollhouseOptions) {
    const { apiKey, baseUrl } = options;
    if (apiKey === '') throw new TypeError('apiKey is empty');
    this.#transport = new Transport({
      apiKey,
      nodes: new Nodes(typeof baseUrl === 'string' ? [baseUrl] : baseUrl),
      timeoutMs: options.timeoutMs ?? 30_000,
      attemptTimeoutMs: options.attemptTimeoutMs ?? 10_000,
      hooks: options.hooks ?? {},
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
      now: () => performance.now(),
      random: () => Math.random(),
      sleep,
      newKey: newKeys(),
    });
    Object.assign(this, resourcesOf(this));
  }

  /** Any operation of the document, by its name. */
  call<T>(operation: OperationId, input: Input, options?: CallOptions): Promise<T> {
    if (this.#closed) return Promise.reject(new ClosedError());
    return this.#transport.call<T>(operation, input, options);
  }
}

/** Rejects with the signal's reason. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted === true) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
