// An organisation with meters, and customers who use them.
import { clock } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool } from '../../src/platform/postgres/postgres.ts';
import { createOrganisation } from '../../src/accounts/onboarding.ts';
import { call } from './call.ts';

export type Tenant = {
  readonly organisationId: string;
  readonly key: string;
  readonly customers: readonly string[];
  /** The initial grant of the capped meter to each customer. */
  readonly granted: number;
};

/** This one has overage allowed: usage may pass the limit. */
export const OPEN_METER = 'calls';
/** Of this one only granted units can be used: callers consume them with `/check`. */
export const CAPPED_METER = 'credits';
const CAPPED_GRANT = 2000;

/** Creates it through the service at `url`, which must be ready. */
export async function createTenant(
  url: string,
  options: { databaseUrl: string; customers: number; granted?: number },
): Promise<Tenant> {
  const { id: organisationId, testKey: key } = await createKeys(options.databaseUrl);
  const made = async (path: string, body: unknown): Promise<string> => {
    const { status, json } = await call({ url, key }, path, body);
    if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`);
    return json.id as string;
  };
  for (const slug of [OPEN_METER, CAPPED_METER]) await made('/meters', { slug, scale: 0 });
  const { granted = CAPPED_GRANT } = options;
  const customers: string[] = [];
  for (let index = 0; index < options.customers; index += 1) {
    const customer = await made('/customers', { external_customer_id: `customer-${index}` });
    const grant = { feature_key: CAPPED_METER, amount: granted };
    await made(`/customers/${customer}/grants`, grant);
    customers.push(customer);
  }
  return { organisationId, key, customers, granted };
}

/** An organisation and its first keys, created without a service. */
export async function createKeys(databaseUrl: string) {
  const sql = openPool(databaseUrl, { max: 1, applicationName: 'chaos tenant' });
  try {
    const setting = { sql, ids, now: clock.now() };
    const made = await createOrganisation(setting, { name: 'Chaos', groupId: null });
    if (typeof made === 'string') throw new Error(made);
    return made;
  } finally {
    await sql.end();
  }
}
