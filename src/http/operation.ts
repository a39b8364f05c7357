// What a route takes and answers, said once: validation, the handler's types and the OpenAPI entry
// come from it.
import type { Static, TObject, TSchema } from '@sinclair/typebox';
import type { BodyMax } from './edge/body.ts';
import type { ErrorCode } from './edge/errors.ts';
import type { Tag } from './openapi/tags.ts';

/** Who may call. `portal`: the customer with the token in the path. */
export type Access = 'organisation' | 'group' | 'portal' | 'open';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Operation = {
  /** The name for clients: `createCheckout`, `listProducts`. It is unique. */
  readonly operationId: string;
  readonly method: Method;
  /** Parameters in braces: `/customers/{id}`. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  readonly body?: TSchema;
  /** Instead of `body` or beside it: an HTML form of strings, from one of our pages. */
  readonly form?: TObject;
  /**
   * The handler gets the body as it was sent, of any kind: `body` is for the document. For what is
   * signed.
   */
  readonly rawBody?: true;
  /** Whether the body may be left out. */
  readonly bodyOptional?: boolean;
  /** Bytes: at most `INGEST_BYTES_MAX`, from which the bound of a frame between nodes follows. */
  readonly bodyMax?: BodyMax;
  /** Strings, and integers that are parsed from strings. */
  readonly query?: TObject;
  /** The description of each header that it reads. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The description of each path parameter. */
  readonly params?: Readonly<Record<string, string>>;
  /**
   * What a POST does with an Idempotency-Key.
   * - `true`: the route stores the answer, with its effect or after it; another body is refused.
   * - `any_body`: the same, but the key alone identifies the request.
   * - `ledger`: the ledger knows the key, and the operation itself says what it refuses.
   * - `false`: the key is ignored.
   * - left out: the operation is repeatable, and its answer is stored after it.
   */
  readonly idempotent?: boolean | 'any_body' | 'ledger';
  /** The body of each status; null for none. Refusals in JSON are not listed. */
  readonly answers: Readonly<Record<number, TSchema | null>>;
  /** The media type of the answers; JSON where it is left out. */
  readonly mediaType?: string;
  /** Whether its query `format=csv` asks for CSV in place of JSON. */
  readonly alsoCsv?: true;
  /** Refusals beyond those of the edge. */
  readonly refusals?: readonly ErrorCode[];
  /** The base address of its links; `BASE_URL` where it is left out. */
  readonly at?: 'checkout' | 'app';
};

export type BodyOf<O extends Operation> = O['rawBody'] extends true ? string : ParsedBodyOf<O>;

type ParsedBodyOf<O extends Operation> = O['form'] extends TObject
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
