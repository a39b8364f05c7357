// The possible histories in the events of a subscription, after any concurrent calls: one life,
// each step of which is in the table.
import { expect } from 'bun:test';
import { chargedFor } from '../../support/bank.ts';
import type { Club, Json } from './subscribing.ts';

type Life = { status: string | null; scheduled: boolean; overdue: boolean; over: boolean };

/** The impossible steps of its history, one line each. */
function impossible(events: readonly Json[]): string[] {
  const wrong: string[] = [];
  const life: Life = { status: null, scheduled: false, overdue: false, over: false };
  const paid = new Set<string>();
  for (const { type, data } of events) {
    const say = (what: string) => wrong.push(`${data.sequence} ${type}: ${what}`);
    if (type === 'payment.succeeded') {
      if (paid.has(data.invoiceId)) say('an invoice is paid twice');
      paid.add(data.invoiceId);
    }
    if (!type.startsWith('subscription.')) continue;
    if (life.over) say('it had ended');
    if ((type === 'subscription.created') !== (life.status === null)) say('it begins once');
    const fault = step(life, type, data);
    if (fault !== null) say(fault);
  }
  return wrong;
}

/** Takes it one step further; returns why it cannot. */
function step(life: Life, type: string, data: Json): string | null {
  if (type === 'subscription.blocked') {
    const [was, is] = [life.overdue, data.blockEntitlement === true];
    life.overdue = is;
    return was === is ? 'nothing changes' : null;
  }
  const [from, to] = [life.status, data.status as string];
  const [wasScheduled, isScheduled] = [life.scheduled, data.cancelAtPeriodEnd === true];
  life.status = to;
  life.scheduled = isScheduled;
  life.over = type === 'subscription.expired';
  switch (type) {
    case 'subscription.created':
      return to === 'active' ? null : `${to} from the start`;
    case 'subscription.updated': {
      if (to === 'canceled') return 'an end is no update';
      const changes = data.changes as string[];
      if (changes.length === 0) return 'nothing changes';
      const named = changes.filter((name) => name !== 'plan').toSorted();
      if (named.join() !== Object.keys(data.previous).toSorted().join()) {
        return 'what changed has a value before';
      }
      if (changes.includes('status')) return from === to ? 'nothing changes' : null;
      if (from !== to) return `${from} becomes ${to} unsaid`;
      if (changes.includes('cancelAtPeriodEnd')) {
        return wasScheduled && !isScheduled ? null : 'nothing is taken back';
      }
      return null;
    }
    case 'subscription.canceled':
      if (to === 'canceled') return null;
      return isScheduled && !wasScheduled && from === to ? null : 'nothing is canceled';
    case 'subscription.expired':
      return to === 'canceled' ? null : 'it goes on';
    case 'subscription.trial_ended':
      return null;
    default:
      return 'is not of a subscription';
  }
}

/**
 * Each has one possible history, at most one charge for each invoice, and no event after its end.
 */
export async function expectPossible(club: Club, ids: readonly string[]): Promise<void> {
  const { sql } = club.shop.server;
  const stories = await Promise.all(ids.map((id) => club.events(id)));
  const wrong = stories.flatMap((events, index) =>
    impossible(events).map((line) => `${ids[index]} ${line}`),
  );
  const payments = await sql<{ id: string; invoice: string }[]>`
    select id, invoice_id as invoice from payments where subscription_id = any(${ids}::uuid[])`;
  const charged = await chargedFor(
    club.shop.server,
    payments.map(({ id }) => id),
  );
  const invoiceOf = new Map(payments.map(({ id, invoice }) => [id, invoice]));
  const times = Map.groupBy(charged, ({ id }) => invoiceOf.get(id));
  const twice = [...times]
    .filter(([, of]) => of.length > 1)
    .map(([invoice, of]) => ({ line: `${invoice} is charged ${of.length}` }));
  // A moving clock stands still while things happen: what ends at that time may have been active
  // just before.
  const late = await sql<{ line: string }[]>`
    select i.id || ' is of ' || i.period_start || ', and ' || s.id || ' ended at ' || s.ended_at as line
    from subscriptions s join invoices i on i.subscription_id = s.id
    where i.period_start > s.ended_at and s.id = any(${ids}::uuid[])
    union all
    select p.id || ' was begun after ' || s.id || ' had ended'
    from subscriptions s join payments p on p.subscription_id = s.id
    where p.created_at > s.ended_at and s.id = any(${ids}::uuid[])`;
  expect([...wrong, ...twice.map(({ line }) => line), ...late.map(({ line }) => line)]).toEqual([]);
}
