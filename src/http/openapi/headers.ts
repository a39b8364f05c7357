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
      'Names the request in our log. On every refusal, every denial, every call in the audit ' +
      'log, and every other success for which the caller sent one.',
    schema: string,
  },
  'Idempotency-Replayed': {
    description: '`true` if this is the stored answer of an earlier call with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Retry-After': { description: 'Seconds after which to retry.', schema: integer },
  'RateLimit-Limit': {
    description: 'The maximum number of requests in a minute; for downloads, at a time.',
    schema: integer,
  },
  'RateLimit-Remaining': { description: 'How many of them are left.', schema: integer },
  'RateLimit-Reset': { description: 'Seconds until the limit is full again.', schema: integer },
  Location: {
    description: 'Where the browser goes next.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  [NODE]: {
    description: 'The number of the node that answered, which it keeps until it ends.',
    schema: integer,
  },
  [OWNER]: {
    description:
      'The number of the node that owns the customer; for a batch one for each item, ' +
      'separated by commas, empty if unknown. Any node answers any call: the owner saves a ' +
      'hop.',
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
