// One call of `check` or `track`, from the call to its end.
import { onAbort } from './abort.ts';
import { overdue, TollhouseError } from './errors.ts';
import type { Epoch } from './pending.ts';

export type Item = {
  /** Its JSON, which is made once. */
  readonly text: string;
  /** The name by which it was called: calls under one name keep their order. */
  readonly customer: string;
  /** Of a track: kept over every retry. */
  readonly key: string | null;
};

/** Who is told of its end. */
export type Owner<A> = { ended(entry: Entry<A>): void };

export class Entry<A> {
  readonly promise: Promise<A>;
  readonly text: string;
  readonly customer: string;
  readonly key: string | null;
  /** By the client's clock. */
  readonly deadline: number;
  readonly epoch: Epoch;
  readonly #owner: Owner<A>;
  isSettled = false;
  #resolve!: (answer: A) => void;
  #reject!: (error: unknown) => void;
  #cleanup: (() => void) | null = null;

  constructor(
    { text, customer, key }: Item,
    deadline: number,
    { owner, epoch }: { readonly owner: Owner<A>; readonly epoch: Epoch },
  ) {
    this.text = text;
    this.customer = customer;
    this.key = key;
    this.deadline = deadline;
    this.epoch = epoch;
    this.#owner = owner;
    this.promise = new Promise<A>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Ends it at its signal, or at a time of its own that is sooner than the others'. */
  endEarly(when: {
    readonly signal: AbortSignal | undefined;
    readonly timeoutMs: number | undefined;
    readonly ended: () => void;
  }): void {
    const { signal, timeoutMs, ended } = when;
    const end = (): void => {
      const isAborted = signal?.aborted === true;
      this.reject(isAborted ? signal.reason : overdue());
      ended();
    };
    const off = signal === undefined ? undefined : onAbort(signal, end);
    const timer = timeoutMs === undefined ? undefined : setTimeout(end, timeoutMs);
    this.#cleanup = () => {
      off?.();
      clearTimeout(timer);
    };
  }

  resolve(answer: A): void {
    if (this.#end()) this.#resolve(answer);
  }

  reject(error: unknown): void {
    if (!this.#end()) return;
    const isKeyed = this.key !== null && error instanceof TollhouseError;
    this.#reject(isKeyed ? error.withKey(this.key) : error);
  }

  /** False where it has ended before. */
  #end(): boolean {
    if (this.isSettled) return false;
    this.isSettled = true;
    this.#cleanup?.();
    this.#owner.ended(this);
    return true;
  }
}
