// What is left of an allowance goes on into later periods.
import { Type } from '@sinclair/typebox';
import { Quantity } from './usage-fields.ts';
import { Body } from './values.ts';

/** Of a meter that counts a level (docs/spec/balance.md#levels). */
export const NO_ROLLOVER = 'goes with a meter that sums or counts: of a level nothing is left over';

export const RolloverCreate = Body({
  max: Quantity,
  expires_after_periods: Type.Integer({ minimum: 1, maximum: 100 }),
});

export const Rollover = Type.Object({
  max: Type.Number(),
  expires_after_periods: Type.Integer(),
});
