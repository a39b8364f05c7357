// Sends requests: one call is one or more attempts, until an answer, an error that a retry does not
// change, the deadline or the caller's signal.
//
// Holds: a POST is sent again only under a key, which is made once a call and kept over every
// attempt. An attempt that is silent ends after its own time, and the call at its deadline.
import type { Caller, CallOptions, Input } from './caller.ts';
import {
  answerError,
  ConnectionError,
  overdue,
  TollhouseError,
  UnavailableError,
} from './errors.ts';
import { guarded, type Hooks, type RequestInfo, type ResponseInfo } from './hooks.ts';
import { newKeys } from './keys.ts';
import type { Node, Nodes } from './nodes.ts';
import { type Operation as Documented, OPERATIONS, type OperationId } from './operations.ts';
import { timeOf } from './options.ts';
import { reasonOf } from './reason.ts';
import { delayMs, mayRetry, retryAfterMs } from './retry.ts';
import { fromWire, toWire } from './wire-names.ts';

type Operation = {
  /** The document's name. */
  readonly operation: string;
  readonly method: string;
  /** With the names of its parameters. */
  readonly template: string;
};

/** One request, as the transport repeats it. */
export type Request = Operation & {
  /** With its parameters and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Made anew for each attempt, with what the one before failed with: calls may have left a batch.
   * Null: nothing is left to send.
   */
  readonly body: (last: TollhouseError | undefined) => string | null | undefined;
  /** Whether it counts once however often it is sent. */
  readonly repeatable: boolean;
  readonly batchSize: () => number;
  /** By `now`: the time at which the call ends. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * The answer's body is read by the caller, as it comes: until then the attempt's time counts, and
   * the signal for ever.
   */
  readonly isStream?: boolean;
  /** A JSON object unless said otherwise. */
  readonly answer?: Documented['answer'] | undefined;
  /** Where it had better go. */
  readonly prefer?: Node | null;
};

export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; text, nothing or a stream where that is what it answers. */
  readonly body: unknown;
  readonly requestId: string | null;
};

/** What is used of the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type Chance = {
  /** Milliseconds that only go forward. */
  readonly now: () => number;
  readonly random: () => number;
  /** Rejects with the signal's reason. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

export type TransportOptions = Chance & {
  readonly apiKey: string | null;
  readonly nodes: Nodes;
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly hooks: Hooks;
  readonly fetch: Fetch;
  readonly newKey: () => string;
};

const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE']);

export class Transport implements Caller {
  readonly #options: TransportOptions;
  readonly #newRequestId = newKeys();

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** `customer`: the one that it is about, for the node that owns it. */
  async call<T>(
    operation: OperationId,
    input: Input,
    options: CallOptions = {},
    customer?: string,
  ): Promise<T> {
    const { method, path, keyed, answer }: Documented = OPERATIONS[operation];
    const { now, nodes, timeoutMs, newKey } = this.#options;
    const headers: Record<string, string> = {};
    const isKeyed = keyed && method === 'POST';
    const own = ownKey(input.body);
    const key = isKeyed ? (own ?? options.idempotencyKey ?? newKey()) : null;
    if (key !== null && own === null) headers['idempotency-key'] = key;
    const body = input.body === undefined ? undefined : JSON.stringify(toWire(input.body));
    try {
      const reply = await this.send({
        operation,
        method,
        template: path,
        path: filled(path, input.path ?? {}) + queryText(input.query),
        headers,
        answer,
        body: () => body,
        repeatable: REPEATABLE.has(method) || isKeyed,
        batchSize: () => 1,
        deadline: now() + timeOf('timeoutMs', options.timeoutMs ?? timeoutMs),
        signal: options.signal,
        prefer: customer === undefined ? null : nodes.ownerOf(customer),
      });
      if (customer !== undefined && reply !== null)
        nodes.learnOwners([{ customer }], reply.headers);
      return fromWire(reply?.body) as T;
    } catch (error) {
      throw key !== null && error instanceof TollhouseError ? error.withKey(key) : error;
    }
  }

  /**
   * The successful answer. Null where nothing was left to send, or where a DELETE that may have
   * been done finds nothing.
   */
  async send(request: Request): Promise<Reply | null> {
    const { now, nodes, random, sleep, hooks } = this.#options;
    let last: TollhouseError | undefined;
    let isDoneMaybe = false;
    for (let attempt = 1; ; attempt += 1) {
      request.signal?.throwIfAborted();
      const body = request.body(last);
      if (body === null) return null;
      const leftMs = request.deadline - now();
      if (leftMs <= 0) throw overdue(last);
      const node = nodes.pick(request.prefer ?? null, now());
      const info = this.#info(request, { attempt, node });
      const outcome = await this.#attempt(request, { info, body, leftMs, node, last });
      if (!(outcome instanceof TollhouseError)) return outcome;
      if (isDoneMaybe && request.method === 'DELETE' && outcome.status === 404) return null;
      isDoneMaybe ||= outcome instanceof ConnectionError || (outcome.status ?? 0) >= 500;
      last = outcome;
      if (!mayRetry(outcome, request.repeatable)) throw outcome;
      const isAway = outcome instanceof ConnectionError || outcome instanceof UnavailableError;
      // Another node may serve it at once; the wait is for when all of them have refused.
      const wait = isAway && nodes.isAnyThere(now()) ? 0 : delayMs(outcome, attempt, random);
      if (now() + wait >= request.deadline) throw overdue(outcome);
      const { headers: _headers, ...told } = info;
      guarded(hooks.onRetry, { ...told, delayMs: wait, error: outcome });
      await sleep(wait, request.signal);
    }
  }

  #info(request: Request, { attempt, node }: { attempt: number; node: Node }): RequestInfo {
    const { operation, method, template } = request;
    const { nodes, apiKey } = this.#options;
    const authorization = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
    return {
      operation,
      method,
      path: template,
      baseUrl: node.baseUrl,
      attempt,
      batchSize: request.batchSize(),
      headers: {
        'x-request-id': this.#newRequestId(),
        ...request.headers,
        ...nodes.headers,
        ...authorization,
      },
    };
  }

  /** One attempt: its answer, or what it failed with. Throws the reason of the caller's signal. */
  async #attempt(
    request: Request,
    attempt: {
      readonly info: RequestInfo;
      readonly body: string | undefined;
      readonly leftMs: number;
      readonly node: Node;
      readonly last: TollhouseError | undefined;
    },
  ): Promise<Reply | TollhouseError> {
    const { hooks, now, nodes } = this.#options;
    const { info, leftMs, node } = attempt;
    const ended = guarded(hooks.onRequest, info) ?? undefined;
    const began = now();
    const timeMs = this.#attemptMs(request, attempt);
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timeMs);
    const cancel = (): void => timeout.abort();
    request.signal?.addEventListener('abort', cancel);
    let outcome: Reply | TollhouseError;
    try {
      outcome = await this.#exchange(request, attempt, timeout.signal);
      const isAway = outcome instanceof ConnectionError || outcome instanceof UnavailableError;
      if (isAway) nodes.failed(node, now());
    } catch (cause) {
      if (request.signal?.aborted === true) outcome = new ConnectionError('aborted', { cause });
      else if (!timeout.signal.aborted) {
        nodes.failed(node, now());
        outcome = new ConnectionError(`no answer from ${info.baseUrl}: ${reasonOf(cause)}`, {
          cause,
        });
      } else {
        nodes.wasSilent(node, now());
        const silent = `no answer from ${info.baseUrl} in ${Math.round(timeMs)} ms`;
        outcome = timeMs === leftMs ? overdue(attempt.last) : new ConnectionError(silent);
      }
    } finally {
      clearTimeout(timer);
      if (request.isStream !== true) request.signal?.removeEventListener('abort', cancel);
    }
    const error = outcome instanceof TollhouseError ? outcome : null;
    guarded(ended, {
      durationMs: now() - began,
      status: outcome.status,
      requestId: outcome.requestId,
      error,
    } satisfies ResponseInfo);
    if (error !== null) request.signal?.throwIfAborted();
    return outcome;
  }

  /** Half of the call's time where another node may be asked in the other half. */
  #attemptMs(
    { repeatable }: Request,
    { leftMs, node }: { readonly leftMs: number; readonly node: Node },
  ): number {
    const { attemptTimeoutMs, nodes, now } = this.#options;
    const isOther = repeatable && nodes.isAnyThere(now(), node);
    return Math.min(attemptTimeoutMs, isOther ? leftMs / 2 : leftMs);
  }

  async #exchange(
    request: Request,
    { info, body, node }: { info: RequestInfo; body: string | undefined; node: Node },
    signal: AbortSignal,
  ): Promise<Reply | TollhouseError> {
    const { headers: sent, method, baseUrl } = info;
    if (body !== undefined) sent['content-type'] = 'application/json';
    const response = await this.#options.fetch(baseUrl + request.path, {
      method,
      headers: sent,
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal,
    });
    const { status, headers } = response;
    if (request.isStream === true && response.ok) {
      return { status, headers, body: response.body, requestId: null };
    }
    const text = await response.text();
    const requestId = headers.get('x-request-id');
    const isJson = headers.get('content-type')?.startsWith('application/json') === true;
    const parsed = isJson ? parse(text) : text;
    if (response.ok) {
      const isEmpty = request.answer === 'nothing' && text === '';
      if (!isEmpty && !(request.answer === 'text' ? text !== '' : isAnswer(parsed))) {
        return new ConnectionError(`a broken answer from ${baseUrl}`);
      }
      this.#options.nodes.answered(node, headers);
      return { status, headers, body: isEmpty ? undefined : parsed, requestId };
    }
    const wait = retryAfterMs(headers.get('retry-after'), Date.now());
    return answerError(status, parsed, { requestId, retryAfterMs: wait });
  }
}

/** The key that a usage has among its fields. With a header too, a repeat would not say so. */
function ownKey(body: { readonly idempotencyKey?: unknown } = {}): string | null {
  return typeof body.idempotencyKey === 'string' ? body.idempotencyKey : null;
}

/** Undefined where it is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether it can be what the service answers: an object that says something. */
function isAnswer(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  for (const _name in body) return true;
  return false;
}

/** The path with its parameters. */
function filled(path: string, parameters: Readonly<Record<string, string>>): string {
  return path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const value = parameters[name];
    if (value === undefined || value === '') throw new TypeError(`${path} needs ${name}`);
    // `.` and `..` would be taken for steps in the path.
    return value === '.' || value === '..'
      ? value.replaceAll('.', '%2E')
      : encodeURIComponent(value);
  });
}

function queryText(query: object | undefined): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(toWire(query ?? {}) as object)) {
    if (value !== undefined && value !== null) pairs.append(name, String(value));
  }
  return pairs.size === 0 ? '' : `?${pairs.toString()}`;
}
