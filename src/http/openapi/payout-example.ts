// What was paid out, and what is in it.
import type { Static } from '@sinclair/typebox';
import type { Payout } from '../wire/payouts.ts';

export const PAYOUT = {
  id: '01976c2e-5f00-7a10-8000-000000000021',
  payout_id: 'po_1SampleOfAPayout',
  account: 'acct_1SampleOfAnAccount',
  amount: '912.40',
  currency: 'USD',
  status: 'paid',
  arrival_date: '2026-11-23',
  gross: '1000.00',
  fees: '38.60',
  refunds: '49.00',
  disputes: '0.00',
  other: '0.00',
  count: 21,
  created_at: '2026-11-21T12:00:00.000Z',
} satisfies Static<typeof Payout>;
