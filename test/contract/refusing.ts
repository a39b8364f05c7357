// Refused calls, by their code.
import type { Call, Reply, TestServer } from '../support/server.ts';

export type Provoke = () => Promise<Reply>;
export type Refusals = Readonly<Record<string, Provoke>>;

/** For a route with an organisation's key: the two codes of the edge. */
export function keyless(server: () => TestServer, method: string, path: () => string): Refusals {
  return {
    unauthorized: () => server().call(method, path(), { key: null }),
    forbidden: () => server().call(method, path(), { key: server().group.testKey }),
  };
}

/** For a route with a body. */
export function bodiless(post: (call: Call) => Promise<Reply>): Refusals {
  return {
    invalid_request: () => post({ body: { misspelt: 1 } }),
    payload_too_large: () => post({ raw: 'x'.repeat(1_048_577) }),
    unsupported_media_type: () => post({ raw: 'a', headers: { 'content-type': 'text/plain' } }),
  };
}

export const withKey = (key: string, body?: unknown): Call => ({
  ...(body !== undefined && { body }),
  headers: { 'idempotency-key': key },
});
