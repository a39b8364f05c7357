// What the credit of a customer looks like.
import type { Static } from '@sinclair/typebox';
import type { Credit, CreditEntries } from '../wire/credit.ts';
import { SAMPLE } from '../wire/payloads/samples.ts';

export const CREDIT_ENTRIES: Static<typeof CreditEntries> = {
  data: [
    {
      id: '01976c2e-5f00-7a10-8000-000000000021',
      amount: '-10.00',
      reason: 'applied',
      invoice_id: SAMPLE.invoiceId,
      note: null,
      created_at: SAMPLE.periodEnd,
    },
    {
      id: '01976c2e-5f00-7a10-8000-000000000022',
      amount: '45.00',
      reason: 'change',
      invoice_id: '01976c2e-5f00-7a10-8000-000000000023',
      note: null,
      created_at: '2026-11-16T00:00:00.000Z',
    },
  ],
  next_cursor: null,
};

export const CREDIT: Static<typeof Credit> = {
  data: [{ currency: 'USD', balance: '35.00', entries: CREDIT_ENTRIES.data }],
};
