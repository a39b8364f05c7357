// One item of a call that is a body of another route, and that is refused by itself.
import type { Static, TSchema } from '@sinclair/typebox';
import { type ItemRefusal, refuseInvalidItem } from '../edge/errors.ts';
import { withoutNulls } from '../edge/lenient.ts';
import { issuesOf, validator } from '../edge/validate.ts';

/** Issues of one item. */
const ITEM_ISSUES_MAX = 5;

export function itemOf<T extends TSchema>(schema: T) {
  const check = validator(schema);
  return {
    /** The item as the other route takes it; null where it does not fit. */
    fit(item: unknown): Static<T> | null {
      if (check.Check(item)) return item;
      const cleaned = withoutNulls(schema, item);
      return check.Check(cleaned) ? cleaned : null;
    },
    /** Why an item does not fit. */
    refuse: (item: unknown): ItemRefusal =>
      refuseInvalidItem(issuesOf(check, withoutNulls(schema, item), ITEM_ISSUES_MAX)),
  };
}
