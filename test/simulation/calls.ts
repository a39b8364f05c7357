// The calls of the clients, and what each answer must agree with at once. The auditor checks what
// must hold over time.
import type { Ledger } from '../../ledger/ledger.ts';
import type { Grant } from '../../ledger/metering/grants.ts';
import { type Customer, type Meter, type Snapshot, balance } from '../../ledger/metering/meter.ts';
import { periodAccountId } from '../../ledger/kernel/derived-ids.ts';
import type { RecordOutcome, UsageRequest } from '../../ledger/outcome.ts';
import type { DisputeNews } from '../../ledger/payments/dispute.ts';
import { ids } from '../../src/platform/ids.ts';
import { EARLIER } from './catalogue.ts';
import { send } from './client.ts';
import { checkPaid, paidOf } from './credit-answers.ts';
import { checkAnswerOf, type Place, type Process, refundAnswer } from './process.ts';
import type { World } from './world.ts';

/** One usage that a client wants once: each attempt sends the same. */
export type Usage = {
  readonly customer: Customer;
  readonly meter: Meter;
  readonly request: UsageRequest;
  readonly mark: string;
};

export function accountOf(customer: Customer, meter: Meter): string {
  return periodAccountId(ids, { customerId: customer.id, meterId: meter.id, start: 0 });
}

const tenantOf = ({ organisationId, mode }: Customer) => ({ organisationId, mode });

export async function find(world: World, ledger: Ledger, customer: Customer) {
  const byName = world.random.chance(0.5);
  const ref = byName ? { externalId: customer.externalId ?? '' } : { id: customer.id };
  const found = await ledger.find(tenantOf(customer), ref);
  if (found === null) throw new Error('a customer was not found');
  return found;
}

export async function record(world: World, usage: Usage): Promise<'answer' | 'unknown'> {
  const { auditor } = world;
  const { customer, meter, request, mark } = usage;
  const from = world.schedule.now;
  const answered = wantUsage(world, usage);
  const reply = await send(
    world,
    { what: `${request.admission} ${mark} of ${customer.externalId}` },
    async (ledger) => ledger.record(await find(world, ledger, customer), meter, request),
    (outcome) => {
      checkRecorded(world, usage, outcome);
      if (outcome.kind !== 'refused' || outcome.replayed || request.admission !== 'consume') return;
      if (meter !== world.catalogue.meters.strict) return;
      const what = `a refusal of ${request.value} for ${mark}`;
      see(world, { customer, meter }, { what, from, balance: request.value, says: 'is below' });
    },
  );
  if (reply.kind === 'unknown') return 'unknown';
  answered();
  const outcome = reply.value;
  if (outcome.kind === 'recorded') auditor.done(mark);
  return 'answer';
}

function wantUsage(world: World, { customer, meter, request, mark }: Usage): () => void {
  world.hard.asked(mark);
  const takes = meter.aggregation === 'unique' ? 1n : request.value;
  return world.auditor.want(mark, {
    what: `usage ${mark}`,
    accountId: accountOf(customer, meter),
    takes,
  });
}

function checkRecorded(world: World, { mark, request }: Usage, outcome: RecordOutcome): void {
  const { auditor, server } = world;
  if (outcome.kind !== 'recorded' && outcome.kind !== 'refused') {
    return auditor.report(`usage ${mark} was answered ${outcome.kind}`);
  }
  auditor.demand(
    request.keyId !== null || !outcome.replayed,
    `usage ${mark} has no key, and was answered as a duplicate`,
  );
  const { id, value, snapshot } = outcome.record;
  const row = server.db.byId.get(id)?.transfer;
  const isStored = outcome.kind === 'recorded' || request.keyId !== null;
  if (!isStored) return auditor.demand(row === undefined, `refused usage ${mark} has left a trace`);
  if (row === undefined) {
    return auditor.report(`I8: usage ${mark} was answered before it was durable`);
  }
  auditor.demand(
    (row.kind === 'refused') === (outcome.kind === 'refused') &&
      row.usage?.value === value &&
      row.usage?.consumedAfter === snapshot.consumed &&
      row.usage.limitAfter === snapshot.limit,
    `usage ${mark} was answered something else than what was written`,
  );
  checkPaid(world, outcome.record);
  if (request.keyId !== null)
    auditor.same(request.keyId, {
      kind: outcome.kind,
      ...outcome.record,
      paidBy: paidOf(outcome.record),
    });
}

/** Many at once, for customers of any node. */
export async function recordAll(
  world: World,
  usages: readonly Usage[],
): Promise<'answer' | 'unknown'> {
  const { auditor, server } = world;
  const tries = usages.map((usage) => wantUsage(world, usage));
  const reply = await send(
    world,
    { what: `batch ${usages.map(({ mark }) => mark).join()}` },
    async (ledger) => {
      const items = [];
      for (const { customer, meter, request } of usages) {
        items.push({
          customer: await find(world, ledger, customer),
          meter,
          request,
          follows: false,
        });
      }
      return ledger.recordAll(items);
    },
    (outcome) => {
      if (outcome.kind !== 'recorded')
        return auditor.report(`a batch was answered ${outcome.kind}`);
      for (const { id } of outcome.items) {
        auditor.demand(server.db.byId.has(id), `I8: ${id} of a batch is not durable`);
      }
    },
  );
  if (reply.kind === 'unknown') return reply.kind;
  for (const answered of tries) answered();
  for (const { mark } of usages) auditor.done(mark);
  return reply.kind;
}

/** Each by itself, for customers of any node. */
export async function recordEach(
  world: World,
  usages: readonly Usage[],
): Promise<'answer' | 'unknown'> {
  const { auditor } = world;
  const tries = usages.map((usage) => wantUsage(world, usage));
  const reply = await send(
    world,
    { what: `each of ${usages.map(({ mark }) => mark).join()}` },
    async (ledger) => {
      const items = [];
      for (const { customer, meter, request } of usages) {
        items.push({ customer: await find(world, ledger, customer), meter, request });
      }
      return ledger.recordEach(items);
    },
    (outcomes) => {
      for (const [index, usage] of usages.entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined) auditor.report(`usage ${usage.mark} has no outcome`);
        else if (outcome.kind !== 'unavailable') checkRecorded(world, usage, outcome);
      }
    },
  );
  if (reply.kind === 'unknown') return reply.kind;
  let became: 'answer' | 'unknown' = 'answer';
  for (const [index, { mark }] of usages.entries()) {
    const kind = reply.value[index]?.kind;
    if (kind === 'unavailable') {
      became = 'unknown';
      continue;
    }
    tries[index]?.();
    if (kind === 'recorded') auditor.done(mark);
  }
  return became;
}

/** A customer's meter. */
export type About = { readonly customer: Customer; readonly meter: Meter };

export function see(
  world: World,
  { customer, meter }: About,
  seen: {
    what: string;
    from: number;
    balance: bigint;
    says: 'is' | 'is below';
    tentative?: boolean;
  },
): void {
  const accountId = accountOf(customer, meter);
  const to = world.schedule.now;
  world.auditor.see({ tentative: false, ...seen, accountId, to });
}

function balanceOf(snapshot: Snapshot): bigint {
  return balance(snapshot) ?? 0n;
}

export async function check(
  world: World,
  { customer, meter }: About,
  place?: Place,
): Promise<'answer' | 'unknown'> {
  const from = world.schedule.now;
  const units = BigInt(world.random.integer(1, 10));
  const what = `check of ${customer.externalId}, ${meter.slug}`;
  const reply = await send(
    world,
    { what, place },
    async (ledger, process) => {
      const found = await find(world, ledger, customer);
      const given = ledger.check(found, meter, units);
      if (!(given instanceof Promise)) demandOwner(world, process, customer.slot);
      return given;
    },
    (told) => {
      const answer = checkAnswerOf(told.text);
      const said = { what, from, balance: balanceOf(answer.snapshot), says: 'is' } as const;
      see(world, { customer, meter }, { ...said, tentative: true });
      const fits = balanceOf(answer.snapshot) >= units;
      const isSo = answer.allowed === fits || (answer.reason === 'not_entitled' && !answer.allowed);
      world.auditor.demand(isSo, `a check of ${units} says ${answer.reason} and ${answer.allowed}`);
    },
  );
  return reply.kind;
}

/**
 * I6: a node that answers from memory owns the slot, and its lease is valid, as the database says
 * at this moment.
 */
function demandOwner({ server, auditor, schedule }: World, process: Process, slot: number): void {
  const { name } = process.machine;
  const owner = server.db.nodes.get(server.db.slots[slot] ?? 0);
  const isOwner = owner?.holder === name && owner.expiresAt >= schedule.now;
  auditor.demand(isOwner, `I6: ${name} answers for slot ${slot} from memory that may be old`);
}

/** The customer's durable state. */
export async function balances(
  world: World,
  { customer, meters }: { customer: Customer; meters: readonly Meter[] },
  place?: Place,
): Promise<'answer' | 'unknown'> {
  const from = world.schedule.now;
  const reply = await send(
    world,
    { what: `balances of ${customer.externalId}`, place },
    async (ledger) => ledger.allBalances(await find(world, ledger, customer)),
    (all) => {
      for (const meter of meters) {
        const found = all.find((one) => one.meter.id === meter.id);
        const what = `the balance of customer ${customer.externalId}, ${meter.slug}`;
        const said = found === undefined ? 0n : balanceOf(found.snapshot);
        see(world, { customer, meter }, { what, from, balance: said, says: 'is' });
      }
    },
  );
  return reply.kind;
}

export async function grant(
  world: World,
  about: About,
  given: Grant,
): Promise<'answer' | 'unknown'> {
  const { auditor, server } = world;
  const mark = `grant ${given.id}`;
  auditor.mark(ids.derive('grant', given.id), mark);
  const accountId = accountOf(about.customer, about.meter);
  auditor.want(mark, { what: mark, accountId, takes: -(given.amount ?? 0n) });
  const reply = await send(
    world,
    { what: `${mark} to ${about.customer.externalId}` },
    async (ledger) => ledger.grant(await find(world, ledger, about.customer), about.meter, given),
    ({ kind }) => {
      auditor.demand(kind === 'granted' || kind === 'duplicate', `${mark} was answered ${kind}`);
      auditor.demand(server.db.grants.has(given.id), `I8: ${mark} is not durable`);
    },
  );
  // What has no limit moves nothing.
  const isMoved = given.effectiveAt <= EARLIER && given.amount !== null;
  if (reply.kind === 'answer' && isMoved) auditor.done(mark);
  return reply.kind;
}

export async function voidGrant(
  world: World,
  { customer, meter }: About,
  grantId: string,
): Promise<'answer' | 'unknown'> {
  const reply = await send(
    world,
    { what: `end of grant ${grantId}` },
    async (ledger) =>
      ledger.voidGrant(await find(world, ledger, customer), { meterId: meter.id, grantId }),
    (outcome) => {
      if (outcome?.kind !== 'voided') return;
      const isEnded = (world.server.db.grants.get(grantId)?.grant.ended ?? null) !== null;
      world.auditor.demand(isEnded, `I8: the end of grant ${grantId} is not durable`);
    },
  );
  return reply.kind;
}

export async function refund(
  world: World,
  paymentId: string,
  request: {
    readonly id: string;
    readonly fingerprint: bigint | null;
    readonly amount: bigint | null;
  },
): Promise<'answer' | 'unknown'> {
  const { auditor, server } = world;
  const mark = `refund ${request.id}`;
  auditor.mark(request.id, mark);
  auditor.want(mark, { what: mark, accountId: paymentId, takes: 0n });
  const reply = await send(
    world,
    { what: mark },
    (ledger) => ledger.payments.refund(paymentId, { ...request, reason: 'duplicate' }),
    (decision) => {
      const row = server.db.byId.get(request.id)?.transfer;
      if (decision === 'duplicate') {
        return auditor.demand(row !== undefined, `${mark} is a duplicate of nothing`);
      }
      const isStored = decision.kind === 'reserved' || request.fingerprint !== null;
      const kind = decision.kind === 'reserved' ? 'pending' : 'refused';
      auditor.demand(
        isStored ? row?.kind === kind : row === undefined,
        `I8: ${mark} is not ${kind}`,
      );
    },
  );
  if (reply.kind === 'unknown') return reply.kind;
  const isDone = reply.value === 'duplicate' || reply.value.kind === 'reserved';
  if (isDone) auditor.done(mark);
  return reply.kind;
}

export async function settle(
  world: World,
  paymentId: string,
  refundId: string,
): Promise<'answer' | 'unknown'> {
  const { auditor, server } = world;
  const outcome = refundAnswer(refundId);
  const reply = await send(
    world,
    { what: `end of refund ${refundId}` },
    (ledger) => ledger.payments.settleRefund(paymentId, { refundId, outcome }),
    (settled) => {
      if (settled === null) return;
      auditor.demand(
        server.db.resolved.has(refundId),
        `I8: the end of refund ${refundId} is not durable`,
      );
    },
  );
  return reply.kind;
}

export async function dispute(
  world: World,
  paymentId: string,
  news: DisputeNews,
): Promise<'answer' | 'unknown'> {
  const { auditor, server } = world;
  const mark = `dispute ${news.reference} of ${paymentId}`;
  const reply = await send(
    world,
    { what: `${mark} is ${news.status}` },
    (ledger) => ledger.payments.dispute(paymentId, { kind: 'found', disputes: [news] }),
    ({ changed, refused }) => {
      auditor.demand(changed.length + refused.length <= 1, `${mark} was applied to others`);
      for (const { id, status, amount } of changed) {
        const row = server.db.disputes.get(id)?.dispute;
        auditor.demand(row !== undefined, `I8: ${mark} is not durable`);
        auditor.demand(
          status === news.status && amount === news.amount,
          `${mark} was answered ${status} ${amount}`,
        );
      }
    },
  );
  return reply.kind;
}
