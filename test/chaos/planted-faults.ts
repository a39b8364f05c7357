// Guards that are removed in a copy of the program, one at a time: the scenario must notice. The long
// run plants every second one, the night the others.
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { JOURNAL, TAKEN_FOR_WRITTEN, WRITTEN_AGAIN } from '../support/journal-faults.ts';
import { type Fault, printedWith } from '../support/planted-tree.ts';
import type { ScenarioName } from './scenarios/all.ts';

const MAIN = relative(
  `${import.meta.dir}/../..`,
  fileURLToPath(import.meta.resolve('./scenarios/main.ts')),
);

type Planted = {
  readonly name: string;
  readonly fault: Fault;
  readonly scenario: ScenarioName;
  /** What the scenario must report, among other things. */
  readonly finds: string;
};

export const PLANTED: readonly Planted[] = [
  {
    name: 'a flush without its fence',
    fault: {
      file: 'ledger/store/flush-sql.ts',
      replace: [
        [
          'WHERE id = $1 AND epoch = $2 AND seq = $3',
          'WHERE id = $1 AND $2::bigint IS NOT NULL AND $3::bigint IS NOT NULL',
        ],
      ],
    },
    scenario: 'a flush arrives after another node has taken the seat',
    finds: 'events in the database: 2, not 1',
  },
  {
    name: 'answers that do not wait for the commit',
    fault: {
      file: JOURNAL,
      replace: [
        [
          'const result = await this.#deps.storage.flush(rows, this.#fence);',
          `for (const unit of units)
            if (unit.effects.some((one) => one.transfers?.some(({ usage }) => usage))) unit.settle('committed');
          const result = await this.#deps.storage.flush(rows, this.#fence);`,
        ],
      ],
    },
    scenario: 'a flush takes long',
    finds: 'answers before the flush was known to be committed',
  },
  {
    name: 'a lost flush that is always written again',
    fault: WRITTEN_AGAIN,
    scenario: 'the connection is lost after the commit',
    finds: 'the flush had landed: false, not true',
  },
  {
    name: 'a lost flush that is always taken for written',
    fault: TAKEN_FOR_WRITTEN,
    scenario: 'the connection is lost before the flush arrives',
    finds: 'held was acknowledged and is lost',
  },
  {
    name: 'a database that is behind is believed',
    fault: {
      file: 'ledger/store/nodes.ts',
      replace: [
        ["return row.seq < fence.seq ? 'behind' : fenceOf(row);", 'return fenceOf(row);'],
        ['set epoch = epoch + 1, halted = halted or seq < ${seq}::bigint', 'set epoch = epoch + 1'],
      ],
    },
    scenario: 'the database is behind the node',
    finds: 'a check from memory: 200, not 503',
  },
  {
    name: 'a processor that hears of a refund before it is reserved',
    fault: {
      file: 'src/payments/refunds.ts',
      replace: [
        [
          'const decision = await this.#reserve(call.paymentId, request);',
          `await this.#deps.processors.taking(scope)
            ?.refund({ key: id, chargeKey: call.paymentId, amount: amount ?? 0n, currency });
          const decision = await this.#reserve(call.paymentId, request);`,
        ],
      ],
    },
    scenario: 'the connection is lost before a refund is reserved',
    finds: 'refunds that the processor made before they were reserved: 1, not 0',
  },
  {
    name: 'a refund that is given up on silence',
    fault: {
      file: 'ledger/payments/refund.ts',
      replace: [
        [
          "case 'not_attempted':\n    case 'unknown':\n",
          `case 'unknown':
            fail(draft, known, { ...settled, failureReason: 'unknown' });
            break;
          case 'not_attempted':
          `,
        ],
      ],
    },
    scenario: 'the processor fails on refunds for a while',
    finds: 'an unknown refund: [200,"failed"], not [200,"pending"]',
  },
  {
    name: 'a ceiling that ignores what is reserved',
    fault: {
      file: 'ledger/payments/payment.ts',
      replace: [['captured - refunded - reserved - held', 'captured - refunded - held']],
    },
    scenario: 'the processor fails on refunds for a while',
    finds: 'a refund of more than is left: 500, not 400',
  },
  {
    name: 'a follow-up that is done again',
    fault: {
      file: 'src/records/followups.ts',
      replace: [
        ['      delete from followups f where', '      select f.* from followups f where'],
        [' and ${isAlive(sql)} returning *', ' and ${isAlive(sql)}'],
      ],
    },
    scenario: 'the processor fails on refunds for a while',
    finds: 'the invoice heard again of a refund: true, not false',
  },
  {
    name: 'a charge that is given up on silence',
    fault: {
      file: 'ledger/payments/charge.ts',
      replace: [
        [
          'draft.change({ asks: state.asks + 1, askAt: now + backoff(state.asks) });',
          "fail(draft, 'errored', { code: 'unknown', message: '' });",
        ],
      ],
    },
    scenario: 'the answer to a charge is lost',
    finds: 'the sandbox has charged what payments say',
  },
  {
    name: 'a span that is not told that it is billed',
    fault: {
      file: 'ledger/subscriptions/usage-billing.ts',
      replace: [['  draft.billSpans(usage.id, spans);\n', '']],
    },
    scenario: 'the connection is lost while usage is billed',
    finds: 'the line before ends at',
  },
  {
    name: 'late usage that is not billed any more',
    fault: {
      file: 'ledger/subscriptions/usage-billing.ts',
      replace: [['(line.known === null ? [] : billMore(draft, line, invoiceId))', '[]']],
    },
    scenario: 'the connection is lost while usage is billed',
    finds: 'requests days 0.00 to 7.00 was billed',
  },
];

/** The lines that the scenario reports when run on a copy with the fault. */
export async function violationsWith({ fault, scenario }: Planted): Promise<string> {
  const printed = await printedWith(fault, { main: MAIN, args: [scenario] });
  return (JSON.parse(printed) as string[]).join('\n');
}
