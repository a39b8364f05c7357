import { assert } from '../assert.ts';
import type { MeterEffects } from '../draft.ts';
import type { Period } from '../meter.ts';
import { type Transfer, movement } from '../transfers.ts';
import type { AccountChange, AccountOpening, AccountTotals, FlushRows } from '../storage.ts';

/**
 * Folds the effects of many decisions into the rows of one flush: each account is written once, however many transfers touched
 * it. An account's change is the sum of its transfers, taken here from the transfers themselves, so the stored totals are their
 * fold by construction (I2); what the actor believes the result to be is asserted against it.
 *
 * Lives for one process: it remembers which of this node's own accounts, the other sides, exist.
 */
export class RowBuilder {
  readonly #known = new Set<string>();

  /** The rows of these effects, in the order in which they were decided. */
  build(all: readonly MeterEffects[]): FlushRows {
    const transfers: Transfer[] = [];
    const accounts = new Map<string, Draft>();
    const states = new Map<string, FlushRows['states'][number]>();
    const grants = new Map<string, FlushRows['grants'][number]>();
    const members: { slot: number; accountId: string; member: bigint }[] = [];
    const events: FlushRows['events'][number][] = [];
    for (const effects of all) {
      const { customer, meter } = effects;
      for (const period of effects.periods) addPeriod(accounts, effects, period);
      for (const transfer of effects.transfers) {
        transfers.push(transfer);
        addSide(accounts, effects, transfer, 'debit');
        addSide(accounts, effects, transfer, 'credit');
      }
      for (const grant of effects.grants) {
        grants.set(grant.id, { customer, meterId: meter.id, grant });
      }
      for (const { accountId, member } of effects.members) {
        members.push({ slot: customer.slot, accountId, member });
      }
      for (const event of effects.events) {
        events.push({ organisationId: customer.organisationId, mode: customer.mode, event });
      }
      if (effects.stateChanged) {
        states.set(effects.state.entitlementId, { customer, state: effects.state });
      }
    }
    const { opened, touched } = this.#split(accounts);
    assert(opened.length + touched.length === accounts.size, 'each account is written once');
    return {
      transfers,
      opened,
      touched,
      states: [...states.values()],
      grants: [...grants.values()],
      members,
      events,
    };
  }

  /** Remembers which accounts exist now. */
  committed(rows: FlushRows): void {
    for (const account of rows.opened) if (account.kind !== 'meter') this.#known.add(account.id);
  }

  #split(accounts: ReadonlyMap<string, Draft>): {
    opened: AccountOpening[];
    touched: AccountChange[];
  } {
    const opened: AccountOpening[] = [];
    const touched: AccountChange[] = [];
    for (const draft of accounts.values()) {
      const { slot, id, before, after, effects, kind } = draft;
      const delta: AccountTotals = draft;
      if (before !== null && after !== null) assertFold(draft, before, after);
      const exists = before === null ? this.#known.has(id) : before.opened;
      if (exists) {
        const expected =
          before === null ? null : { debitsPosted: before.consumed, creditsPosted: before.granted };
        touched.push({ slot, id, delta, expected, period: after });
      } else {
        const customerId = kind === 'meter' ? effects.customer.id : null;
        opened.push({ slot, id, delta, kind, meter: effects.meter, customerId, period: after });
      }
    }
    return { opened, touched };
  }
}

type Draft = {
  slot: number;
  id: string;
  kind: 'meter' | 'usage' | 'grants';
  effects: MeterEffects;
  before: Period | null;
  after: Period | null;
  debitsPosted: bigint;
  debitsPending: bigint;
  creditsPosted: bigint;
  creditsPending: bigint;
};

/** Accounts of no customer are this node's own and stand in slot 0: no other node writes them, whatever slots it owns. */
const NODE_ACCOUNTS_SLOT = 0;

function newDraft(
  accounts: Map<string, Draft>,
  key: Pick<Draft, 'id' | 'kind' | 'effects' | 'before' | 'after'>,
): Draft {
  const slot = key.kind === 'meter' ? key.effects.customer.slot : NODE_ACCOUNTS_SLOT;
  const draft = {
    ...key,
    slot,
    debitsPosted: 0n,
    debitsPending: 0n,
    creditsPosted: 0n,
    creditsPending: 0n,
  };
  accounts.set(key.id, draft);
  return draft;
}

function addPeriod(
  accounts: Map<string, Draft>,
  effects: MeterEffects,
  { before, after }: { before: Period; after: Period },
): void {
  const draft = accounts.get(after.accountId);
  if (draft === undefined) {
    newDraft(accounts, { id: after.accountId, kind: 'meter', effects, before, after });
  } else {
    draft.after = after;
  }
}

function addSide(
  accounts: Map<string, Draft>,
  effects: MeterEffects,
  transfer: Transfer,
  side: 'debit' | 'credit',
): void {
  if (transfer.kind === 'refused') return;
  const id = transfer[side];
  let draft = accounts.get(id);
  if (draft === undefined) {
    // Every customer's account that a transfer touches came with its period; the rest are the other sides.
    const kind = side === 'credit' ? 'usage' : 'grants';
    draft = newDraft(accounts, { id, kind, effects, before: null, after: null });
  }
  const { posted, pending } = movement(transfer);
  if (side === 'debit') {
    draft.debitsPosted += posted;
    draft.debitsPending += pending;
  } else {
    draft.creditsPosted += posted;
    draft.creditsPending += pending;
  }
}

function assertFold(draft: Draft, before: Period, after: Period): void {
  assert(before.consumed + draft.debitsPosted === after.consumed, 'I2: consumed is the fold');
  assert(before.granted + draft.creditsPosted === after.granted, 'I2: granted is the fold');
  assert(before.reserved + draft.debitsPending === after.reserved, 'I3: reserved is the fold');
}
