import type { Place } from '../../src/dashboard/parts/place.ts';

/** Where a page stands that a test draws. */
export function placeAt(of: Partial<Place> = {}): Place {
  let keys = 0;
  return {
    organisation: { id: 'org', name: 'Acme' },
    mode: 'test',
    zone: 'UTC',
    base: '/dashboard/org/test',
    path: '',
    query: new URLSearchParams(),
    user: { email: 'ada@example.com', name: 'Ada', role: 'owner' },
    choices: [],
    now: Date.UTC(2026, 0, 31),
    may: () => true,
    formToken: 'token',
    newKey: () => `key-${(keys += 1)}`,
    fault: null,
    typed: new URLSearchParams(),
    ...of,
  };
}
