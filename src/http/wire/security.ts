import { type Static, Type } from '@sinclair/typebox';
import type { SecurityRecord } from '../../records/security.ts';
import { Body } from './values.ts';

const FIELDS = {
  require_second_factor: Type.Boolean({
    description: 'Whether a member without a second factor may enrol one, and nothing else.',
  }),
  refund_step_up_amount: Type.String({
    pattern: '^\\d{1,12}(\\.\\d{1,4})?$',
    description:
      'In the dashboard, in live mode, refunds of a member that come to more in an hour need a code given within the last 10 minutes. In the major unit of any currency.',
    examples: ['100.00'],
    error: 'must be a decimal string such as "100.00"',
  }),
};

export const Security = Type.Object(FIELDS);

export const SecurityChange = Body(
  {
    require_second_factor: Type.Optional(FIELDS.require_second_factor),
    refund_step_up_amount: Type.Optional(FIELDS.refund_step_up_amount),
  },
  { require_second_factor: true },
);

export function fromSecurity(security: SecurityRecord): Static<typeof Security> {
  return {
    require_second_factor: security.requiresSecondFactor,
    refund_step_up_amount: security.refundStepUpAmount,
  };
}
