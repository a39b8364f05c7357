// Guards that are removed in a copy of the program, one at a time: some seed must notice. The long
// run plants every second one, the night the others.
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { JOURNAL, TAKEN_FOR_WRITTEN, WRITTEN_AGAIN } from '../support/journal-faults.ts';
import { type Fault, printedWith } from '../support/planted-tree.ts';

const MAIN = relative(`${import.meta.dir}/../..`, fileURLToPath(import.meta.resolve('./main.ts')));
/** It must be found within this many seeds. */
const SEEDS = 600;
export const RUN_MS_MAX = 120_000;

const MEMBER = 'ledger/cluster/member.ts';
const LEASE = 'ledger/actor/lease.ts';
const ROUTER = 'ledger/cluster/router.ts';
const RETRIES = 'ledger/actor/retries.ts';
const USAGE_BILLING = 'ledger/subscriptions/usage-billing.ts';
const STORE = 'ledger/actor/actor-store.ts';
const HOLDS = 'ledger/metering/reservation-changes.ts';
const HOLDING = 'ledger/actor/reservations.ts';
const CREDITS = 'ledger/metering/credits.ts';
/** The database's own part is in the simulated one. */
const FLUSH = 'test/simulation/flush.ts';
const SEATS = 'test/simulation/seats.ts';

const oneFault = (file: string, is: string, becomes: string): Fault => ({
  file,
  replace: [[is, becomes]],
});

/** With the seed that found it last: it is run first. */
export const PLANTED: readonly (readonly [name: string, seed: number, fault: Fault])[] = [
  [
    'a flush without its fence',
    12,
    oneFault(
      FLUSH,
      'node === undefined || node.epoch !== fence.epoch || node.seq !== fence.seq',
      'node === undefined',
    ),
  ],
  [
    'an event of usage that stands in the way of its key',
    10,
    oneFault(FLUSH, "const isUsage = event.objectType === 'USAGE';", 'const isUsage = false;'),
  ],
  ['a fence without its epoch', 12, oneFault(FLUSH, 'node.epoch !== fence.epoch || ', '')],
  ['a fence without its number', 12, oneFault(FLUSH, ' || node.seq !== fence.seq', '')],
  [
    'answers that do not wait for the commit',
    1,
    oneFault(
      JOURNAL,
      'const result = await this.#deps.storage.flush(rows, this.#fence);',
      `for (const unit of units) if (unit.keys.length > 0) unit.settle('committed');
      const result = await this.#deps.storage.flush(rows, this.#fence);`,
    ),
  ],
  ['a lost flush that is always written again', 8, WRITTEN_AGAIN],
  ['a lost flush that is always taken for written', 9, TAKEN_FOR_WRITTEN],
  [
    'a lease that is counted from the answer',
    229,
    oneFault(JOURNAL, 'this.#lease.renew(moved.askedAt);', 'this.#lease.renew(this.#now());'),
  ],
  [
    'a lease that nobody looks at',
    16,
    {
      file: LEASE,
      replace: [
        ['this.#clock.monotonic() < this.#until.monotonic &&', 'this.#clock.monotonic() > 0 &&'],
        ['this.#clock.now() < this.#until.wall', 'this.#clock.now() > 0'],
      ],
    },
  ],
  [
    'actors that stay when their slot goes',
    7,
    oneFault(STORE, '    this.directory.dropLost();\n', ''),
  ],
  [
    'slots that are served before they were surveyed',
    2,
    oneFault(
      MEMBER,
      '    this.#session = session;\n',
      '    this.#session = session;\n    session.store.slots.gain([...Array.from({ length: 1024 }).keys()]);\n',
    ),
  ],
  [
    'a slot that is let go of when it is gone',
    13,
    {
      file: MEMBER,
      replace: [
        ['    session.store.lose(going.map(({ slot }) => slot));\n', ''],
        [
          '    const how = await this.#settled(session, unit, going);\n',
          '    const how = await this.#settled(session, unit, going);\n    session.store.lose(going.map(({ slot }) => slot));\n',
        ],
      ],
    },
  ],
  [
    'a node that is taken over twice',
    30,
    oneFault(
      SEATS,
      'return row?.epoch === epoch ? row : null;',
      'return epoch > 0n ? (row ?? null) : null;',
    ),
  ],
  [
    'an owner that answers for what is not its own',
    11,
    oneFault(
      ROUTER,
      "    if (location.kind !== 'here') {",
      "    if (location.kind !== 'here' && this.#member.session === null) {",
    ),
  ],
  [
    'an answer that it has moved is taken for the answer',
    11,
    oneFault(ROUTER, '    if (reply === MOVED) {', '    if (reply === undefined) {'),
  ],
  [
    'a key that counts once for all customers',
    1,
    oneFault(
      'src/http/wire/usage.ts',
      "ids.derive('event', organisationId, mode, customerId, body)",
      "ids.derive('event', organisationId, mode, '', body)",
    ),
  ],
  [
    'a check of what is not yet durable',
    143,
    oneFault(
      'ledger/actor/metering.ts',
      'return isLower(other, answer) ? other : answer;',
      'return other === answer ? other : answer;',
    ),
  ],
  [
    'a flush that failed is never divided',
    148,
    oneFault(
      RETRIES,
      'const length = Math.ceil(units.length / PARTS);',
      'const { length } = units;',
    ),
  ],
  [
    'what is too slow is tried for ever',
    9,
    {
      file: RETRIES,
      replace: [
        ['const TRIES_ALONE_MAX = 2;', 'const TRIES_ALONE_MAX = Infinity;'],
        ['const TRIES_MAX = 16;', 'const TRIES_MAX = Infinity;'],
      ],
    },
  ],
  [
    'what was too slow for one node is asked of its heir',
    46,
    oneFault('ledger/cluster/batch.ts', ' || error instanceof TooSlow', ''),
  ],
  [
    'a unit that is refused as slow may be written all the same',
    9,
    oneFault(
      JOURNAL,
      "      unit.settle('slow');",
      "      unit.settle('slow');\n      this.#line.push(unit);",
    ),
  ],
  [
    'usage that is billed twice',
    2,
    oneFault(
      USAGE_BILLING,
      'return billedAs ?? lineOfSold.get(soldIn(span)) ?? price.id;',
      'return billedAs === null ? (lineOfSold.get(soldIn(span)) ?? price.id) : price.id;',
    ),
  ],
  [
    'spans that are not written with their lines',
    8,
    oneFault(
      'ledger/actor/rows.ts',
      'this.spans.set(span.id,',
      'this.spans.set(span.subscriptionId,',
    ),
  ],
  [
    'late usage that no span counts',
    10,
    oneFault(
      'ledger/metering/usage.ts',
      '  countLate(draft,',
      '  if (eventAt < 0) countLate(draft,',
    ),
  ],
  [
    'an end that forgets usage on an unpaid invoice',
    2,
    oneFault(
      'ledger/subscriptions/ending.ts',
      'unpaid.map(({ invoiceId }) => invoiceId),',
      'unpaid.slice(unpaid.length).map(({ invoiceId }) => invoiceId),',
    ),
  ],
  [
    'a hold that is asked for again, and refused for want of what it holds',
    66,
    oneFault(
      HOLDING,
      'if (decided !== DUPLICATE && request.fingerprint === null) return decided;',
      'if (decided !== DUPLICATE) return decided;',
    ),
  ],
  [
    'usage that is asked for again, without what was reserved',
    11,
    oneFault(
      'ledger/metering/usage.ts',
      'const held = reserved > 0n &&',
      'const held = reserved < 0n &&',
    ),
  ],
  [
    'a commit that counts twice',
    3,
    oneFault(
      HOLDS,
      'const aggregate = period.aggregate + value;',
      'const aggregate = period.aggregate + value + value;',
    ),
  ],
  [
    'an expiry that voids nothing',
    2,
    oneFault(
      HOLDS,
      'draft.transfers.push(transfer(draft, period, { id: voidId, ...voided }));',
      "if (status !== 'expired') draft.transfers.push(transfer(draft, period, { id: voidId, ...voided }));",
    ),
  ],
  [
    'reservations that are not written as they end',
    2,
    oneFault(
      'ledger/actor/rows.ts',
      'this.reservations.set(reservation.id, {',
      "if (reservation.status === 'open') this.reservations.set(reservation.id, {",
    ),
  ],
  [
    'a commit that is done again for another value',
    14,
    oneFault(
      'ledger/metering/reservation-decisions.ts',
      "status === 'committed' && stored.committed === act.value) ||",
      "status === 'committed') ||",
    ),
  ],
  [
    'what is open does not count in the balance',
    3,
    oneFault(
      'ledger/metering/meter.ts',
      'limit + billed - consumed - reserved;',
      'limit + billed - consumed;',
    ),
  ],
  [
    'a draw that no row says',
    1,
    oneFault(
      'ledger/actor/rows.ts',
      '    for (const other of effects.beside) this.addMeter(other);\n',
      '',
    ),
  ],
  [
    'a draw that memory forgets',
    1,
    oneFault(
      'ledger/actor/actor.ts',
      'others: effects.beside.map((other) => this.apply(other)),',
      'others: effects.beside.map(() => before),',
    ),
  ],
  [
    'an heir that does not know what a period costs',
    1,
    oneFault(
      'test/simulation/reads.ts',
      'rate: db.pooled.get(id) ?? null,',
      'rate: db.pooled.has(id) ? null : null,',
    ),
  ],
  [
    'a pool that goes on holding what its members let go of',
    2,
    oneFault(
      'ledger/metering/pool-holds.ts',
      'if (less === 0n) return NONE;',
      'if (less >= 0n) return NONE;',
    ),
  ],
  [
    'members that do not follow their pool into its next period',
    2,
    oneFault(CREDITS, 'if (moved || side.state.nextDue', 'if (!moved && side.state.nextDue'),
  ],
  [
    'late usage after which as much rolled over as before',
    81,
    oneFault(
      'ledger/metering/settlement/anew.ts',
      'if (units === 0n && is?.cap === was?.cap) continue;',
      'if (units === 0n || is?.cap !== was?.cap || is !== null) continue;',
    ),
  ],
  [
    'an heir that does not know which grants have ended',
    165,
    oneFault(
      'ledger/actor/actor.ts',
      'ended: [...ended.filter(({ id }) => !isGrant.has(id)), ...state.ended],',
      'ended: [...ended.filter((grant) => isGrant.has(grant.source)), ...state.ended],',
    ),
  ],
  [
    'late usage that leaves grants as they are',
    15,
    oneFault(
      'ledger/metering/settlement/anew.ts',
      'this.#draft.putGrant(revived(after, this.#now));',
      '',
    ),
  ],
  [
    'a cost that changes within a period',
    1,
    oneFault(
      CREDITS,
      'const list = costs.findLast(({ since }) => since <= began);',
      'const list = costs.findLast(({ since }) => since <= Math.max(began, paying.current.updatedAt));',
    ),
  ],
  [
    'late usage that is paid for by the current period of the pool',
    6,
    oneFault(
      CREDITS,
      'return isCurrent ? state.current : periodFor(context, state, period.start);',
      'return isCurrent ? state.current : period.start < 0 ? periodFor(context, state, 0) : state.current;',
    ),
  ],
  [
    'what is due of other members after a draw',
    26,
    oneFault('ledger/metering/advance.ts', '  draft.context.credits?.catchUp(draft);\n', ''),
  ],
  [
    'a late level that does not go on to the period that runs',
    23,
    oneFault('ledger/metering/carry.ts', '    carryTo(draft, current, { mark, at: now });\n', ''),
  ],
];

/** What the simulator prints with the fault, once a seed has failed or all have passed. */
export const simulatedWith = (fault: Fault, seed: number): Promise<string> =>
  printedWith(fault, {
    main: MAIN,
    args: ['1', String(SEEDS), 'first', String(seed)],
    msMax: RUN_MS_MAX,
  });
