// That the scenarios can fail: each guard is taken out of a copy of the program, and its scenario must notice.
import { expect, test } from 'bun:test';
import { type Fault, violationsWith } from './planted-tree.ts';
import type { ScenarioName } from './scenarios/all.ts';

const JOURNAL = 'ledger/actor/journal.ts';
const LANDED = 'const landed = found.seq === this.#fence.seq + 1n;';
const LANDED_ASSERT =
  "assert(landed || found.seq === this.#fence.seq, 'I7: a flush number was skipped');";

type Planted = {
  readonly name: string;
  readonly fault: Fault;
  readonly scenario: ScenarioName;
  /** What it must say, among other things. */
  readonly finds: string;
};

const PLANTED: readonly Planted[] = [
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
          "for (const unit of units) if (unit.keys.length > 0) unit.settle('committed');\n    const result = await this.#deps.storage.flush(rows, this.#fence);",
        ],
      ],
    },
    scenario: 'a flush takes long',
    finds: 'answers before the flush was known to be committed',
  },
  {
    name: 'a lost flush that is always written again',
    fault: {
      file: JOURNAL,
      replace: [
        [LANDED, 'const landed = false as boolean;'],
        [LANDED_ASSERT, ''],
      ],
    },
    scenario: 'the connection is lost after the commit',
    finds: 'the flush had landed: false, not true',
  },
  {
    name: 'a lost flush that is always taken for written',
    fault: {
      file: JOURNAL,
      replace: [
        [
          LANDED,
          'const landed = true as boolean; found = { ...found, seq: this.#fence.seq + 1n };',
        ],
      ],
    },
    scenario: 'the connection is lost before the flush arrives',
    finds: 'held was acknowledged and is lost',
  },
  {
    name: 'a database that is behind is believed',
    fault: {
      file: JOURNAL,
      replace: [
        ['if (found.seq < this.#fence.seq) {', 'if (found.seq < 0n) {'],
        [LANDED_ASSERT, ''],
      ],
    },
    scenario: 'the database is behind the node',
    finds: 'the answer: 200, not 503',
  },
];

for (const { name, fault, scenario, finds } of PLANTED) {
  test(`${name} is noticed`, async () => {
    const found = await violationsWith(fault, scenario);
    expect(found.join('\n')).toContain(finds);
  }, 40_000);
}
