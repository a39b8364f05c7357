// What has fired, and what is still to be looked at, is on disk: the next process goes on there.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { until } from '../../support/until.ts';
import { postTo, restart } from '../metering/setting.ts';
import { Watching } from './watching.ts';

setDefaultTimeout(90_000);

test("a customer's alert keeps its state after its node dies: fired, armed, or owed a look", async () => {
  const watching = await Watching.open({ alone: true });
  const { setting } = watching;
  const { sql, organisation } = setting.server;
  const feature = await watching.feature();
  const customer = await setting.customer();
  await setting.grant(customer, feature, { amount: 100 });
  const own = { customer_id: customer };
  await watching.alert(feature, { type: 'usage', threshold: 50, ...own });
  await watching.alert(feature, { type: 'remaining', threshold: 10 });
  await watching.use(customer, feature, 60);
  expect(await watching.told(customer, feature)).toEqual(['triggered usage 50']);
  const other = await setting.customer();
  await watching.alert(feature, { type: 'usage', threshold: 70, customer_id: other });
  // Of these the calls are cut off after they are stored: the customer is not looked at.
  await sql`
    insert into alerts (id, organisation_id, mode, meter_id, customer_id, type, threshold, created_at, look_at)
    select gen_random_uuid(), a.organisation_id, a.mode, a.meter_id, c, 'usage', t * 1000000, now(), now() + interval '1 hour'
    from alerts a cross join (values (${customer}::uuid, 40::bigint), (null, 45)) v (c, t) where a.customer_id is null`;
  await sql`
    update alerts set deleted_at = now(), look_at = now() + interval '1 hour' where customer_id is not null and threshold = 50000000`;

  const again = await restart(setting);
  try {
    const track = (value: number, who = customer) => {
      const body = { feature_key: feature, customer_id: who, value };
      return postTo(again.url, organisation.testKey, { path: '/track', body });
    };
    await sql`update alerts set look_at = now() where look_at is not null`;
    await until('all were looked at', async () => {
      return (await sql`select from alerts where look_at is not null`).length === 0;
    });
    const looked = ['triggered usage 50', 'initial usage 40', 'initial usage 45'];
    expect((await watching.told(customer, feature)).toSorted()).toEqual(looked.toSorted());
    expect((await track(70, other)).status).toBe(200);
    expect(await watching.told(other, feature)).toContain('triggered usage 70');
    expect((await track(30)).status).toBe(200);
    expect((await watching.told(customer, feature)).slice(3)).toEqual(['triggered remaining 10']);
    const grant = { feature_key: feature, amount: 900 };
    const path = `/customers/${customer}/grants`;
    expect((await postTo(again.url, organisation.testKey, { path, body: grant })).status).toBe(201);
    expect((await watching.told(customer, feature)).slice(4)).toEqual(['recovered remaining 10']);
  } finally {
    await again.stop();
  }
  expect(await audit(sql)).toEqual([]);
  await watching.stop();
});

test("after a restart an alert's scan resumes where it ended, past customers below its threshold", async () => {
  const watching = await Watching.open({ alone: true });
  const { setting } = watching;
  const { sql } = setting.server;
  const feature = await watching.feature();
  const made: string[] = [];
  for (let n = 0; n < 3; n += 1) made.push(await setting.customer());
  // Ids ascend with time: between them are more than one step looks at.
  await sql`
    insert into customers (id, organisation_id, mode, metadata, event_sequence, created_at, updated_at)
    select (overlay(c.id::text placing lpad(to_hex(n), 12, '0') from 25))::uuid, c.organisation_id, c.mode, '{}', 1, now(), now()
    from customers c, generate_series(1, 1100) n where c.id = ${made[1]!}
    on conflict do nothing`;
  for (const customer of made) {
    await setting.grant(customer, feature, { amount: 100 });
    await watching.use(customer, feature, 90);
  }
  const { id } = await watching.alert(feature, { type: 'usage', threshold: 80 });
  // A node that was killed has looked at the first.
  await sql`update alerts set look_at = now(), looked_through = ${made[0]!} where id = ${id}`;
  await until('it was looked at', async () => {
    return (await sql`select from alerts where look_at is not null`).length === 0;
  });
  expect(await watching.told(made[0]!, feature)).toEqual([]);
  for (const customer of made.slice(1)) {
    expect(await watching.told(customer, feature)).toEqual(['initial usage 80']);
  }
  await watching.stop();
});
