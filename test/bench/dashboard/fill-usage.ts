// What may be used, what was, and what was denied.
//
// Holds: usage of the first feature is in events and in the bins that they come to; that of the
// others is in bins alone.
import { DAYS, type Filling, METERS_USED, MONTH, quarterOf } from './filling.ts';

/** A grant and an endless period of each customer. */
export async function balances(of: Filling): Promise<void> {
  const { grant, customer, meter } = of.originals;
  const { mark, isFirst } = of.owner;
  const meterId = `(select id from ${mark}_meters where n = 0)`;
  const rows = `${mark}_people where n >= ${isFirst ? 1 : 0}`;
  const account = of.id('account', 'n', 'created');
  const like = `customer_id = '${customer}' and meter_id = '${meter}'`;
  const whose = { slot: 'given.slot', customer_id: 'given.id', meter_id: meterId };
  await of.copier.copy('grants', {
    like: `id = '${grant}'`,
    rows,
    set: { ...of.own, ...whose, id: of.id('grant', 'n', 'created'), created_at: 'created' },
  });
  await of.copier.copy('accounts', {
    like,
    rows,
    set: { ...of.own, ...whose, id: account },
  });
  await of.copier.copy('balances', {
    like: `id = (select id from accounts where ${like} limit 1)`,
    rows,
    set: { slot: 'given.slot', id: account },
  });
  await of.copier.copy('customer_meters', { like, rows, set: whose });
}

/** Three events of each customer in a month, by their own time; more of the first one. */
export async function usage(of: Filling): Promise<void> {
  const { customer, meter } = of.originals;
  const { mark, isFirst } = of.owner;
  const { customers, most } = of.sizes;
  const total = 3 * customers + 10 * most;
  const own = `(select id from accounts where customer_id = '${customer}' and meter_id = '${meter}' limit 1)`;
  const first = `case when ${isFirst} and p.n = 0 then ${own} else ${of.id('account', 'p.n', 'p.created')} end`;
  const side = isFirst ? null : of.id('side', '0', of.now);
  await of.copier.copy('transfers', {
    like: `value is not null and debit = ${own}`,
    rows: `(
      select u.n, u.at, ${first} as account, p.slot from (
        select n, ${of.now} - ${MONTH} * (${total} - n) / ${total} as at,
          case when n % ${Math.ceil(total / (10 * most))} = 0 then 0 else n % ${customers} end as person
        from generate_series(1, ${total}) n) u
      join ${mark}_people p on p.n = u.person) used`,
    set: {
      id: of.id('usage', 'n', 'at'),
      slot: 'given.slot',
      debit: 'account',
      ...(side !== null && { credit: side }),
      at: 'at',
      event_at: 'null::timestamptz',
      value: '1000000 * (1 + n % 9)',
      amount: '1000000 * (1 + n % 9)',
      fingerprint: 'n',
      unbinned: 'false',
      metadata: `jsonb_build_object('region', 'r' || n % 20, 'path', '/v1/' || n % 5)`,
    },
  });
  const meterId = `(select id from ${mark}_meters where n = 0)`;
  const quarter = `date_bin('15 minutes', coalesce(event_at, at), 'epoch')`;
  const whose = `value is not null and credit ${side === null ? `= (select credit from transfers where value is not null and debit = ${own} limit 1)` : `= ${side}`}`;
  const summed = `sum(value), count(*) from transfers where ${whose}`;
  await of.copier.run(`
    delete from usage_deltas;
    delete from usage_bins where account_id = ${own};
    delete from usage_totals where meter_id = ${meterId};
    insert into usage_bins select slot, debit, ${quarter}, ${summed} group by 1, 2, 3;
    insert into usage_totals select ${meterId}, ${quarter}, ${summed} group by 1, 2`);
  // Of the other features: each customer on ten days.
  await of.copier.run(`
    insert into usage_bins
    select p.slot, ${of.id('other account', 'p.n', 'p.created')}, ${quarterOf(of.now)} - interval '1 day' * d, 1000000 * d, d
    from ${mark}_people p, generate_series(1, 10) d;
    insert into usage_totals
    select m.id, ${quarterOf(of.now)} - interval '15 minutes' * q, 1000000 * (q % 50), q % 50
    from ${mark}_meters m, generate_series(0, ${DAYS * 96}) q where m.n between 1 and ${METERS_USED}`);
}

export async function denials(of: Filling): Promise<void> {
  const { customer } = of.originals;
  const { mark } = of.owner;
  const { customers, most } = of.sizes;
  const total = Math.ceil(customers / 2) + most;
  const rows = `(
    select d.n, d.at, p.id as customer, ${of.id('denial', 'd.n', 'd.at')} as made, m.id as meter from (
      select n, ${of.now} - ${MONTH} * (${total} - n) / ${total} as at,
        case when n % ${Math.ceil(total / most)} = 0 then 0 else n % ${customers} end as person
      from generate_series(1, ${total}) n) d
    join ${mark}_people p on p.n = d.person
    join ${mark}_meters m on m.n = 0) denied`;
  await of.copier.copy('denials', {
    like: `customer_id = '${customer}'`,
    rows,
    set: {
      ...of.own,
      id: 'made',
      customer_id: 'customer',
      meter_id: 'meter',
      at: 'at',
      last_at: 'at',
      recorded_at: 'at',
      request_ids: `array['${mark}-' || n]`,
    },
  });
  await of.copier.run(`
    insert into denial_requests (organisation_id, mode, request_id, denial_id)
    select '${of.owner.id}', 'test', '${mark}-' || n, made from ${rows};
    insert into denial_counts (organisation_id, mode, quarter, meter_id, count)
    select '${of.owner.id}', 'test', ${quarterOf(of.now)} - interval '15 minutes' * q, m.id, 1 + q % 7
    from ${mark}_meters m, generate_series(1, ${DAYS * 96}) q where m.n between 1 and ${METERS_USED}`);
}
