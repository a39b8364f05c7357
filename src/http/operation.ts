// What a route takes and answers, said once: it validates, it types the handler, and it is the OpenAPI document.
import type { Static, TObject, TSchema } from '@sinclair/typebox';
import type { ErrorCode } from './edge/errors.ts';
import type { Tag } from './openapi/tags.ts';

/** Who may call. `portal`: whoever has the token in the path. */
export type Access = 'organisation' | 'group' | 'portal' | 'open';

export type Operation = {
  /** What clients call it: `createCheckout`, `listProducts`. No two are the same. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  readonly body?: TSchema;
  /** In place of `body` or beside it: an HTML form of strings, from a page of ours. */
  readonly form?: TObject;
  /** Whether a request without a body is as good as one with. */
  readonly bodyOptional?: boolean;
  /** No more than `INGEST_BYTES_MAX`: what passes between nodes has its bound from that. */
  readonly bodyBytesMax?: number;
  /** Strings, and integers that are read from strings. */
  readonly query?: TObject;
  /** Each path parameter with what it is. */
  readonly params?: Readonly<Record<string, string>>;
  /**
   * What a POST does with an Idempotency-Key. `true`: its answer is kept with what it writes, and another body under the key is refused.
   * `any_body`: the key alone names the request. `ledger`: the ledger knows the key, and the operation says itself what it refuses.
   * `false`: nothing. Left out: it may be done again, and its answer is kept after it.
   */
  readonly idempotent?: boolean | 'any_body' | 'ledger';
  /** The body of each status, where it is not a refusal in JSON; null for none. */
  readonly answers: Readonly<Record<number, TSchema | null>>;
  /** Of the answers; JSON where it is left out. */
  readonly mediaType?: string;
  /** Refusals of its own, beyond those that the edge makes. */
  readonly refusals?: readonly ErrorCode[];
  /** Where its links lead; `BASE_URL` where it is left out. */
  readonly at?: 'checkout' | 'app';
};

export type BodyOf<O extends Operation> = O['form'] extends TObject
  ? Static<O['form']> | (O['body'] extends TSchema ? Static<O['body']> : never)
  : O['body'] extends TSchema
    ? O['bodyOptional'] extends true
      ? Static<O['body']> | undefined
      : Static<O['body']>
    : undefined;

export type QueryOf<O extends Operation> = O['query'] extends TObject
  ? Static<O['query']>
  : Readonly<Record<string, never>>;

export type ParamsOf<O extends Operation> = {
  readonly [name in keyof O['params']]: string;
};

/** What a handler gets. */
export type Call<O extends Operation, P> = {
  readonly principal: P;
  readonly body: BodyOf<O>;
  readonly query: QueryOf<O>;
  readonly params: ParamsOf<O>;
  /** null where none was sent, or the operation takes none. */
  readonly idempotencyKey: string | null;
  readonly request: Request;
};

export type Handler<O extends Operation, P> = (call: Call<O, P>) => Response | Promise<Response>;
