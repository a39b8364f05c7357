// The name of a time zone, as callers write it.
import { Type } from '@sinclair/typebox';
import type { Issue } from '../edge/errors.ts';

export const Timezone = Type.String({
  maxLength: 64,
  description: 'The name of an IANA zone, as `Europe/Berlin`.',
});

export const NO_ZONE: Issue = {
  path: ['timezone'],
  message: 'must be the name of an IANA time zone',
};

/** Excludes offsets: a zone has daylight saving time, and its rules may change. */
const ZONE = /^[A-Za-z][\w+/-]{0,63}$/;

/** The canonical name of the zone; null where there is none. */
export function zoneOf(name: string): string | null {
  if (!ZONE.test(name)) return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
