// What was bought in a month, and what is subscribed to.
import { slotOf } from './copier.ts';
import type { Filling } from './filling.ts';

export async function payments(of: Filling): Promise<void> {
  const { payment } = of.originals;
  const checkout = of.id('checkout', 'n', 'at');
  const invoice = of.id('invoice', 'n', 'at');
  const paid = of.id('payment', 'n', 'at');
  const whose = { customer_id: 'customer', external_customer_id: 'named' };
  const when = { created_at: 'at', event_at: 'at' };
  await of.copier.copy('payments', {
    like: `id = '${payment}'`,
    rows: of.bought('payment'),
    set: {
      ...of.own,
      ...whose,
      ...when,
      id: 'made',
      slot: slotOf('made'),
      status: `case n % 10 when 0 then 'failed' when 1 then 'partially_refunded' else 'succeeded' end`,
      failure_code: `case when n % 10 = 0 then 'card_declined' end`,
      paid_at: 'case when n % 10 <> 0 then at end',
      checkout_id: checkout,
      checkout_token: `md5('${of.owner.mark}' || n)`,
      invoice_id: `case when n % 10 <> 0 then ${invoice} end`,
    },
  });
  await of.copier.copy('refunds', {
    like: `payment_id = '${payment}'`,
    rows: `${of.bought('refund')} where n % 10 = 1`,
    set: {
      ...of.own,
      id: 'made',
      payment_id: paid,
      slot: slotOf(paid),
      created_at: 'at',
      settled_at: 'at',
    },
  });
  await of.copier.copy('checkouts', {
    like: `payment_id = '${payment}'`,
    rows: of.bought('checkout'),
    set: {
      ...of.own,
      ...whose,
      id: 'made',
      token: `md5('${of.owner.mark}' || n)`,
      payment_id: `case when n % 10 <> 0 then ${paid} end`,
      status: `case when n % 10 <> 0 then 'paid' when n % 20 = 0 then 'active' else 'expired' end`,
      paid_at: 'case when n % 10 <> 0 then at end',
      created_at: 'at',
      expires_at: `at + interval '2 days'`,
    },
  });
  await of.copier.copy('invoices', {
    like: `payment_id = '${payment}'`,
    rows: of.bought('invoice'),
    set: {
      ...of.own,
      customer_id: 'customer',
      id: 'made',
      number: `'INV-${of.owner.mark}-' || n`,
      payment_id: paid,
      checkout_id: checkout,
      status: `case when n % 40 = 0 then 'open' else 'paid' end`,
      amount_paid: 'case when n % 40 = 0 then 0 else (original.whole).total end',
      amount_refunded: '0',
      paid_at: 'case when n % 40 = 0 then null else at end',
      subscription_id: `case when n % 40 = 0 then ${of.plan(`(1 + n % ${of.sizes.customers - 1})`)} end`,
      created_at: 'at',
      updated_at: 'at',
      issued_at: 'at',
    },
  });
}

export async function subscriptions(of: Filling): Promise<void> {
  const { subscription } = of.originals;
  const { mark } = of.owner;
  const { customers, most } = of.sizes;
  await of.copier.run(`
    create temporary table ${mark}_plans as
    select s.n, ${of.plan('s.n')} as id, p.id as customer, p.slot, s.at, s.ended from (
      select n, ${of.planned('n')} as at,
        n % 10 = 9 or n >= ${customers} as ended, case when n >= ${customers} then 0 else n end as person
      from generate_series(1, ${customers + most}) n) s
    join ${mark}_people p on p.n = s.person`);
  const began = `${of.now} - interval '3 days'`;
  await of.copier.copy('subscriptions', {
    like: `id = '${subscription}'`,
    rows: `${mark}_plans`,
    set: {
      ...of.own,
      id: 'given.id',
      slot: 'given.slot',
      bundle_id: 'given.id',
      customer_id: 'customer',
      status: `case when ended then 'canceled' when n % 40 = 3 then 'paused' else 'active' end`,
      overdue: `case when ended then 'clear' when n % 20 = 1 then 'warning' when n % 50 = 2 then 'blocked' else 'clear' end`,
      ...inTrial({
        trial_end: 'null::timestamptz',
        anchor_at: began,
        period_index: '0',
        period_start: began,
        period_end: `${began} + interval '1 month'`,
      }),
      ended_at: `case when ended then ${of.now} end`,
      canceled_at: `case when ended then ${of.now} end`,
      paused_at: `case when not ended and n % 40 = 3 then ${of.now} end`,
      live: 'not ended',
      created_at: 'at',
      event_at: 'at',
    },
  });
}

/** One in twenty is as the original, which is in its trial. */
function inTrial(others: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(others).map(([column, value]) => [
      column,
      `case when n % 20 = 5 then (original.whole).${column} else ${value} end`,
    ]),
  );
}
