// Features, as a form offers them.
import type { Meter } from '../../client/types.ts';

/** Each by its slug. */
export function featuresOf(meters: readonly Meter[]) {
  return meters.map(({ slug, name }) => ({ value: slug, label: `${name} (${slug})` }));
}
