// The headers of answers, as the document describes them once.

const integer = { type: 'integer', format: 'int32', minimum: 0 } as const;
const string = { type: 'string' } as const;

/** By which a caller of several nodes asks for the other two. */
export const HINTS = 'tollhouse-hints';
export const NODE = 'tollhouse-node';
export const OWNER = 'tollhouse-owner';

/** By name, as the document spells them. */
export const HEADERS = {
  'x-request-id': {
    description:
      'Names the request in our log. On every refusal, on an answer with a no to what was asked, on each call that the audit log has, and on any other success where the caller sent one.',
    schema: string,
  },
  'Idempotency-Replayed': {
    description: '`true` where this is the answer that was given before under the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Retry-After': { description: 'Seconds after which to try again.', schema: integer },
  'RateLimit-Limit': {
    description:
      'How many requests a minute may bring; of downloads, how many there may be at a time.',
    schema: integer,
  },
  'RateLimit-Remaining': { description: 'How many are left of them.', schema: integer },
  'RateLimit-Reset': { description: 'Seconds until they are whole again.', schema: integer },
  Location: { description: 'Where to go on.', schema: { type: 'string', format: 'uri-reference' } },
  [NODE]: {
    description: 'The number of the node that answered, which it keeps while it lives.',
    schema: integer,
  },
  [OWNER]: {
    description:
      'The number of the node that owns the customer. Of a batch one for each item, with commas between; empty where it is not known. ' +
      'Any node answers any call: the owner does so without a hop.',
    schema: string,
  },
  'Content-Disposition': { description: 'A name for the file.', schema: string },
  'WWW-Authenticate': { description: '`Bearer`.', schema: string },
} as const;

export type HeaderName = keyof typeof HEADERS;

export function headersOf(names: readonly HeaderName[]): Record<string, { $ref: string }> {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const),
  );
}
