// Stripe's account object.
import { newId } from './books.ts';
import type { Account } from './types.ts';

const CURRENCY_OF: Readonly<Record<string, string>> = {
  DE: 'eur',
  FR: 'eur',
  GB: 'gbp',
  JP: 'jpy',
  US: 'usd',
};

export function createAccount(country: string, now: number): Account {
  return {
    id: newId('acct', 16),
    object: 'account',
    business_type: 'company',
    capabilities: { card_payments: 'active', sepa_debit_payments: 'active', transfers: 'active' },
    charges_enabled: true,
    country,
    created: now,
    default_currency: CURRENCY_OF[country] ?? 'usd',
    details_submitted: true,
    email: 'merchant@example.com',
    metadata: {},
    payouts_enabled: true,
    type: 'standard',
  };
}
