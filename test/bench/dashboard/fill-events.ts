// What was told, to endpoints and to the audit log, and who may look at it.
import type { Filling } from './filling.ts';

const PEOPLE = 150;

/** One of each payment, and its delivery to one of the endpoints. */
export async function events(of: Filling): Promise<void> {
  const { payment, delivery, organisationId } = of.originals;
  const type = `case n % 4 when 0 then 'payment.failed' when 1 then 'refund.succeeded' else 'payment.succeeded' end`;
  await of.copier.copy('events', {
    like: `object_id = '${payment}' and type = 'payment.succeeded'`,
    rows: of.bought('event'),
    set: {
      ...of.own,
      id: 'made',
      type,
      object_id: of.id('payment', 'n', 'at'),
      sequence: '1',
      at: 'at',
    },
  });
  const { id } = of.owner;
  await of.copier.run(`
    insert into event_fanouts (event_id, owed, position, organisation_id, mode)
    select id, 1, (select position from event_relay) + row_number() over (order by at, id), organisation_id, mode
    from events where organisation_id = '${id}' and endpoint_id is null
      and id not in (select event_id from event_fanouts);
    update event_relay set position = (select max(position) from event_fanouts)`);
  const mark = of.owner.mark;
  await of.copier.run(`
    create temporary table ${mark}_endpoints as
    select row_number() over (order by id) - 1 as n, count(*) over () as of,
      ${of.owner.isFirst ? 'id' : of.id('endpoint', 'row_number() over (order by id)', of.now)} as id
    from webhook_endpoints where organisation_id = '${organisationId}' and mode = 'test'`);
  if (!of.owner.isFirst) {
    await of.copier.copy('webhook_endpoints', {
      like: `organisation_id = '${organisationId}'`,
      rows: `${mark}_endpoints`,
      // Its secret is another one's: nothing can be signed.
      set: { ...of.own, id: 'given.id', status: `'disabled'::text` },
    });
  }
  const sent = `(
    select b.n, b.at, b.made as event, e.id as endpoint, ${of.id('delivery', 'b.n', 'b.at')} as delivery
    from ${of.bought('event')} cross join lateral (select bought.*) b
    join ${mark}_endpoints e on e.n = b.n % e.of) sent`;
  await of.copier.copy('deliveries', {
    like: `id = '${delivery}'`,
    rows: sent,
    set: {
      id: 'delivery',
      endpoint_id: 'endpoint',
      event_id: 'event',
      event_type: type,
      status: `case n % 50 when 7 then 'exhausted' when 8 then 'pending' else 'delivered' end`,
      attempts: '1 + n % 3',
      first_at: 'at',
      // Nothing is sent while pages are asked for.
      next_at: `${of.now} + interval '9 days'`,
      created_at: 'at',
      settled_at: 'at',
      worker: 'null::uuid',
    },
  });
  await of.copier.run(`
    insert into delivery_attempts (delivery_id, at, status_code, duration_ms, response_head)
    select delivery, at + interval '1 minute' * a, case when a < n % 3 then 500 else 200 end, 12, 'ok'
    from ${sent}, generate_series(0, 2) a where a <= n % 3`);
}

export async function people(of: Filling): Promise<void> {
  const { mark, id } = of.owner;
  const user = of.id('user', 'n', of.now);
  await of.copier.run(`
    insert into users (id, email, name, created_at)
    select ${user}, '${mark}-' || n || '@example.com', 'Member ' || n, ${of.now} from generate_series(1, ${PEOPLE}) n;
    insert into organisation_members (id, organisation_id, user_id, role, created_at)
    select ${of.id('member', 'n', of.now)}, '${id}', ${user}, 'support', ${of.now} from generate_series(1, ${PEOPLE}) n;
    insert into invitations (id, organisation_id, email, role, hash, created_at, expires_at)
    select ${of.id('invitation', 'n', of.now)}, '${id}', '${mark}-i-' || n || '@example.com', 'support',
      sha256(('${mark}' || n)::bytea), ${of.now}, ${of.now} + interval '7 days' from generate_series(1, ${PEOPLE}) n`);
  await of.copier.copy('audit_log', {
    like: `organisation_id = '${of.originals.organisationId}' and mode = 'test'`,
    rows: of.bought('audit'),
    set: {
      ...of.own,
      id: 'made',
      at: 'at',
      actor_kind: `case when n % 3 = 0 then 'user' else 'key' end`,
      actor_id: of.id('user', `1 + n % ${PEOPLE}`, of.now),
      operation: `case n % 5 when 0 then 'refundPayment' when 1 then 'createGrant' else 'createCheckout' end`,
      object_id: `${of.id('payment', 'n', 'at')}::text`,
      request_id: `'${mark}-' || n`,
    },
  });
}
