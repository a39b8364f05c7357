// The headers of answers, as the document describes them once.

const integer = { type: 'integer', minimum: 0 } as const;
const string = { type: 'string' } as const;

/** By name, as the document spells them. */
export const HEADERS = {
  'x-request-id': {
    description:
      'Names the request in our log. On every refusal, and on a success where the caller sent one.',
    schema: string,
  },
  'Idempotency-Replayed': {
    description: '`true` where this is the answer that was given before under the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Retry-After': { description: 'Seconds after which to try again.', schema: integer },
  'RateLimit-Limit': { description: 'How many requests a minute may bring.', schema: integer },
  'RateLimit-Remaining': { description: 'How many are left of them.', schema: integer },
  'RateLimit-Reset': { description: 'Seconds until they are whole again.', schema: integer },
  Location: { description: 'Where to go on.', schema: { type: 'string', format: 'uri-reference' } },
  'WWW-Authenticate': { description: '`Bearer`.', schema: string },
} as const;

export type HeaderName = keyof typeof HEADERS;

export function headersOf(names: readonly HeaderName[]): Record<string, { $ref: string }> {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const),
  );
}
