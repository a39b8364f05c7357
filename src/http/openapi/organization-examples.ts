// An organisation, and its logo.
import type { Static, TSchema } from '@sinclair/typebox';
import { Logo } from '../wire/branding.ts';
import { Organization } from '../wire/organization.ts';

const AT = '2026-11-21T12:00:00.000Z';

const MINE = {
  id: '01976c2e-5f00-7a10-8000-000000000018',
  mode: 'test',
  name: 'Acme',
  timezone: 'Europe/Vienna',
  seller: {
    name: 'Acme GmbH',
    address_line1: 'Ringstraße 1',
    address_line2: null,
    city: 'Wien',
    state: null,
    postal_code: '1010',
    country: 'AT',
    tax_id: null,
    email: null,
    phone: null,
  },
  dunning: { retry_days: [1, 3, 7], block_after_days: 10, expire_after_days: 14 },
  branding: {
    color: '#5b2a86',
    logo_url: 'http://localhost:3000/logos/…',
    support_email: 'help@acme.example',
    support_url: null,
  },
  created_at: AT,
  updated_at: AT,
} satisfies Static<typeof Organization>;

const LOGO = {
  url: 'http://localhost:3000/logos/…',
  type: 'image/png',
  width: 480,
  height: 120,
} satisfies Static<typeof Logo>;

/** By schema. */
export const ORGANIZATION: readonly [TSchema, unknown][] = [
  [Organization, MINE],
  [Logo, LOGO],
];
