// What a resource needs of the transport.
import type { OperationId } from './operations.ts';

export type CallOptions = {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly idempotencyKey?: string;
};

export type Input = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly body?: object;
};

/** Input and answer are camelCase. */
export type Caller = {
  call<T>(operation: OperationId, input: Input, options?: CallOptions): Promise<T>;
};
