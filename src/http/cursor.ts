// Cursors: a place in a list that no row names, as text that a caller hands back.
import type { Static, TSchema } from '@sinclair/typebox';
import type { Issue } from './edge/errors.ts';
import { validator } from './edge/validate.ts';

export const NOT_A_CURSOR: Issue = {
  path: ['cursor'],
  message: 'must be the next_cursor of a page',
};

export function cursors<T extends TSchema>(schema: T) {
  const check = validator(schema);
  const write = (place: Static<T>): string =>
    Buffer.from(JSON.stringify(place)).toString('base64url');
  return {
    write: (place: Static<T> | null): string | null => (place === null ? null : write(place)),
    /** null where none was sent. */
    read(text: string | undefined): Static<T> | null | 'none' {
      if (text === undefined) return null;
      const bytes = Buffer.from(text, 'base64url');
      // What is no alphabet of it would be passed over.
      if (bytes.toString('base64url') !== text) return 'none';
      try {
        const place: unknown = JSON.parse(bytes.toString());
        return check.Check(place) ? place : 'none';
      } catch {
        return 'none';
      }
    },
  };
}
