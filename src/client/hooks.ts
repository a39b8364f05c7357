// What a program may watch: each attempt of each request, and each wait before another. A hook that
// throws, or whose promise rejects, changes nothing for the call.

export type RequestInfo = {
  /** The document's name of the operation: `checkEntitlements`. */
  readonly operation: string;
  readonly method: string;
  /** With the names of its parameters: `/customers/{id}`. */
  readonly path: string;
  /** The address that this attempt goes to. */
  readonly baseUrl: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** How many calls of the program this request carries: more than 1 for a batch. */
  readonly batchSize: number;
  /** Sent with the request; a hook may add to it, `traceparent` say. */
  readonly headers: Record<string, string>;
};

export type ResponseInfo = {
  readonly durationMs: number;
  /** Null without an answer. */
  readonly status: number | null;
  readonly requestId: string | null;
  /** What the attempt failed with. */
  readonly error: Error | null;
};

export type RetryInfo = Omit<RequestInfo, 'headers'> & {
  readonly delayMs: number;
  readonly error: Error;
};

export type Hooks = {
  /** Before each attempt; what it returns is called with the attempt's end. */
  readonly onRequest?: (request: RequestInfo) => ((response: ResponseInfo) => void) | void;
  /** Before the wait that precedes another attempt. */
  readonly onRetry?: (retry: RetryInfo) => void;
};

/** Calls a hook; what it throws is dropped, at once or later. */
export function guarded<A, R>(hook: ((argument: A) => R) | undefined, argument: A): R | undefined {
  try {
    const result = hook?.(argument);
    if (result instanceof Promise) result.catch(() => undefined);
    return result;
  } catch {
    return undefined;
  }
}
