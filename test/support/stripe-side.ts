// The fake of Stripe in the place of the sandbox: TEST_PROCESSOR=stripe connects an account of it
// to each organisation of a test server, and a buyer with one of our test cards pays on its page.
import { ids } from '../../src/platform/ids.ts';
import { openSecrets } from '../../src/platform/crypto/secrets.ts';
import { notifyChange } from '../../src/platform/postgres/changes.ts';
import { stripeClient } from '../../src/processors/stripe/client.ts';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { type FakeAccount, openStripeFake, type StripeFake } from '../processors/stripe/fake.ts';
import { type Means, NUMBERS } from './means.ts';
import { TEST_SECRETS_KEY } from './settings.ts';

export const IS_STRIPE = process.env['TEST_PROCESSOR'] === 'stripe';

export type StripeSide = {
  readonly fake: StripeFake;
  /** Where a server finds it. */
  readonly apiUrl: string;
  /** By organisation. */
  readonly accounts: Map<string, FakeAccount>;
  /** Detaches what is saved by this name (`cus_…:pm_…`). */
  detach(saved: string): Promise<void>;
};

/** By origin: a buyer is led to a page there. */
const open = new Map<string, StripeFake>();

export async function openStripeSide(): Promise<StripeSide> {
  const fake = await openStripeFake();
  open.set(new URL(fake.url).origin, fake);
  const accounts = new Map<string, FakeAccount>();
  return {
    fake,
    apiUrl: fake.url,
    accounts,
    async detach(saved) {
      const [, method = ''] = saved.split(':');
      const apiUrl = new URL(fake.url);
      const tried = [...accounts.values()].map(({ testKey: key }) =>
        stripeClient({ key, apiUrl }).paymentMethods.detach(method),
      );
      await Promise.any(tried);
    },
  };
}

/** The same where servers and buyers find it at another address. */
export function stripeAt(side: StripeSide, apiUrl: string): StripeSide {
  open.set(new URL(apiUrl).origin, side.fake);
  return { ...side, apiUrl };
}

export async function closeStripeSide({ fake, apiUrl }: StripeSide): Promise<void> {
  for (const url of [fake.url, apiUrl]) open.delete(new URL(url).origin);
  await fake.close();
}

/** A new account of the fake takes what is new in the organisation's test mode. */
export async function connectStripe(
  sql: Sql,
  { fake, accounts }: StripeSide,
  organisationId: string,
): Promise<void> {
  const account = fake.newAccount();
  const { testKey } = account;
  const id = ids.next();
  const sealed = openSecrets(TEST_SECRETS_KEY).seal(testKey, id);
  await sql`
    insert into processor_accounts (id, organisation_id, mode, type, account, sealed_key, last4, checked_at, connected_at)
    values (${id}, ${organisationId}, 'test', 'stripe', ${account.id}, ${sealed}, ${testKey.slice(-4)}, now(), now())`;
  await notifyChange(sql, 'processor', organisationId);
  accounts.set(organisationId, account);
}

/** The fake whose page this is; null for another page. */
export function stripeOf(pageUrl: string): StripeFake | null {
  return URL.canParse(pageUrl) ? (open.get(new URL(pageUrl).origin) ?? null) : null;
}

/** What a buyer types. */
type Typed =
  | { readonly number: string; readonly expiry: string; readonly cvc: string }
  | { readonly iban: string };

/** The buyer pays on Stripe's page. Whether the page is left: a declined buyer stays there. */
export async function payThere(pageUrl: string, means: Means | Typed): Promise<boolean> {
  const fake = stripeOf(pageUrl);
  if (fake === null) throw new Error(`not a page of Stripe: ${pageUrl}`);
  const typed = typeof means === 'string' ? typedOf(NUMBERS[means]) : means;
  const became = await fake.buyer.pays(pageUrl, typed);
  return became === 'paid' || became === 'processing';
}

function typedOf(number: string): Typed {
  return number.startsWith('DE') ? { iban: number } : { number, expiry: '12/34', cvc: '123' };
}
