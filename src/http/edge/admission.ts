import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import type { PortalPrincipal, Principal } from './auth.ts';
import {
  BODY_MAX,
  type BodyMax,
  FORM_BYTES_MAX,
  FORM_MEDIA,
  isBroken,
  isForm,
  JSON_MEDIA,
  type Media,
  OPEN_BODY_MAX,
} from './body.ts';
import { refuseInvalid } from './errors.ts';
import { Malformed, parseJson } from './json.ts';
import { hasCurrency, upperCurrencies, withoutNulls } from './lenient.ts';
import type { Access, Operation } from '../operation.ts';
import { readPairs, readQuery } from './query.ts';
import { issuesOf, validator, type Validator } from './validate.ts';

type Admitted = {
  readonly principal: Principal | PortalPrincipal | null;
  readonly body: unknown;
  readonly query: unknown;
  readonly params: Readonly<Record<string, string>>;
  readonly idempotencyKey: string | null;
  readonly request: Request;
};

const NO_QUERY = {};
const NO_FIELDS_SCHEMA = Type.Object({}, { additionalProperties: false });
const NO_FIELDS = { schema: NO_FIELDS_SCHEMA, check: validator(NO_FIELDS_SCHEMA) };

type Taken = { readonly schema: TSchema; readonly check: Validator<TSchema> };

const IDEMPOTENCY_KEY = 'idempotency-key';
const IDEMPOTENCY_KEY_SANE = /^[\x20-\x7e]{1,255}$/;

/** What one operation accepts: its schemas, compiled once. */
export class Admission {
  readonly media: readonly Media[];
  readonly bodyMax: BodyMax;
  readonly #form: { readonly schema: TObject; readonly check: Validator<TObject> } | null;
  readonly #body: Taken | null;
  readonly #hasCurrency: boolean;
  readonly #bodyOptional: boolean;
  readonly #rawBody: boolean;
  readonly #query: { readonly schema: TObject; readonly check: Validator<TObject> } | null;
  readonly #idempotent: boolean;

  constructor(operation: Operation, access: Access) {
    const { body, form, query } = operation;
    this.media = [
      ...(body === undefined && form !== undefined ? [] : [JSON_MEDIA]),
      ...(form === undefined ? [] : [FORM_MEDIA]),
    ];
    this.bodyMax = bodyMaxOf(operation, access);
    this.#form = form === undefined ? null : { schema: form, check: validator(form) };
    this.#body = body === undefined ? null : { schema: body, check: validator(body) };
    this.#hasCurrency = body !== undefined && hasCurrency(body);
    this.#bodyOptional = operation.bodyOptional === true;
    this.#rawBody = operation.rawBody === true;
    this.#query = query === undefined ? null : { schema: query, check: validator(query) };
    this.#idempotent = isIdempotent(operation, access);
  }

  /** A page of ours may send it and no other: a browser sends forms from anywhere. */
  isForm(request: Request): boolean {
    return this.#form !== null && (this.#body === null || isForm(request));
  }

  /** What the handler gets, or the refusal. */
  admit(taken: {
    readonly request: Request;
    readonly params: Readonly<Record<string, string>>;
    readonly principal: Principal | PortalPrincipal | null;
    readonly text: string;
  }): Admitted | Response {
    const { request, params, principal, text } = taken;
    let idempotencyKey: string | null = null;
    if (this.#idempotent) {
      idempotencyKey = request.headers.get(IDEMPOTENCY_KEY);
      if (idempotencyKey !== null && !IDEMPOTENCY_KEY_SANE.test(idempotencyKey)) {
        return refuseInvalid([
          { path: ['Idempotency-Key'], message: 'must be 1 to 255 printable ASCII characters' },
        ]);
      }
    }
    const body = this.#read(request, text);
    if (body instanceof Response) return body;
    let query: unknown = NO_QUERY;
    if (this.#query !== null) {
      const read = readQuery(request.url, this.#query.schema, this.#query.check);
      if (!read.ok) return refuseInvalid(read.issues);
      query = read.value;
    }
    return { principal, body, query, params, idempotencyKey, request };
  }

  #read(request: Request, text: string): unknown {
    if (this.#rawBody) return text;
    if (this.#form !== null && this.isForm(request)) {
      return this.#readForm(request, text, this.#form);
    }
    if (this.#body !== null) return this.#readBody(request, text, this.#body);
    // An operation without a body refuses one: its sender meant it to change something.
    const nothing = text === '' ? undefined : this.#readBody(request, text, NO_FIELDS);
    return nothing instanceof Response ? nothing : undefined;
  }

  #readBody(request: Request, text: string, { schema, check }: Taken): unknown {
    if (text === '' && this.#bodyOptional) return undefined;
    if (text === '') return refuseInvalid([{ path: [], message: 'is required' }]);
    if (isBroken(request, text)) {
      return refuseInvalid([{ path: [], message: 'is not valid UTF-8' }]);
    }
    const value = parseJson(text, this.bodyMax.values);
    if (value instanceof Malformed) {
      return refuseInvalid([{ path: [], message: value.message }]);
    }
    let fitting = value;
    if (!check.Check(fitting)) {
      fitting = withoutNulls(schema, value);
      if (fitting === value || !check.Check(fitting))
        return refuseInvalid(issuesOf(check, fitting));
    }
    if (this.#hasCurrency) upperCurrencies(schema, fitting);
    return fitting;
  }

  #readForm(
    request: Request,
    text: string,
    { schema, check }: { readonly schema: TObject; readonly check: Validator<TObject> },
  ): unknown {
    if (isBroken(request, text)) {
      return refuseInvalid([{ path: [], message: 'is not valid UTF-8' }]);
    }
    const read = readPairs(text, schema, check);
    return read.ok ? read.value : refuseInvalid(read.issues);
  }
}

/**
 * Whether the operation takes an Idempotency-Key. A caller without an API key cannot be recognised
 * when it sends the same again, and pages have forms.
 */
export function isIdempotent(
  { method, body, form, idempotent }: Operation,
  access: Access,
): boolean {
  const isForPages = form !== undefined && body === undefined;
  return method === 'POST' && access !== 'open' && !isForPages && idempotent !== false;
}

export function bodyMaxOf({ bodyMax, form }: Operation, access: Access): BodyMax {
  if (bodyMax !== undefined) return bodyMax;
  const usual = access === 'organisation' || access === 'group' ? BODY_MAX : OPEN_BODY_MAX;
  return form === undefined ? usual : { ...usual, bytes: FORM_BYTES_MAX };
}
