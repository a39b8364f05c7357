// What callers were told of what customers have prepaid, and what must follow from it.
import type Big from 'big.js';
import { until } from '../support/until.ts';
import type { Answered } from './call.ts';
import { MEMBERS, POOL, type Prepaid } from './prepaid-customers.ts';
import { balanceOf, creditsOf, NONE, past, type Row, sum } from './prepaid-reckoning.ts';

export type Hold = {
  readonly id: string;
  readonly customer: Prepaid;
  readonly feature: string;
  amount: Big;
  /** It expires while the test runs. */
  readonly isShort: boolean;
  status: 'open' | 'committed' | 'released';
  committed: Big;
  late: boolean;
};

/** A call. It may be sent any number of times, and at the same time. */
export type Asked = {
  readonly name: string;
  readonly path: string;
  readonly body: object;
  /** Of an answer, what each one must say; null where another one may say more. */
  same(answer: Answered): unknown;
  /** With the first answer that says something. @throws where it cannot be true */
  enter(answer: Answered): void;
  /** Of one that is not sent again later: once it is answered as often as it was sent. */
  readonly after?: () => void;
};

export class PrepaidBook {
  readonly customers: readonly Prepaid[];
  /** Of all customers. */
  readonly holds: Hold[] = [];
  readonly faults: string[] = [];
  answers = 0;
  /** How often a call got no answer, or a 503. */
  unanswered = 0;
  /** How often a call got an answer again. */
  repeated = 0;
  readonly #said = new Map<string, string>();
  readonly #events = new Map<string, Big[]>();

  constructor(customers: readonly Prepaid[]) {
    this.customers = customers;
  }

  isKnown({ name }: Asked): boolean {
    return this.#said.has(name);
  }

  /** `wasKnown`: before it was sent. */
  hear(asked: Asked, answer: Answered, wasKnown: boolean): void {
    const { name } = asked;
    this.answers += 1;
    try {
      const said = asked.same(answer);
      const first = this.#said.get(name);
      if (said === null && !wasKnown) return;
      if (first === undefined) {
        this.#said.set(name, JSON.stringify(said));
        asked.enter(answer);
        return;
      }
      this.repeated += 1;
      const again = JSON.stringify(said);
      if (again !== first) this.faults.push(`${name} was answered ${first}, and then ${again}`);
    } catch (error) {
      this.faults.push(`${name}: ${String(error)}`);
    }
  }

  /** Resolves when `count` more answers have come. */
  async moreAnswers(count: number): Promise<void> {
    const goal = this.answers + count;
    await until(`${count} more answers`, () => this.answers >= goal);
  }

  /** The values of all events that count; for more of them too. */
  events({ id }: Prepaid, feature: string): Big[] {
    const name = `${id} ${feature}`;
    const known = this.#events.get(name) ?? [];
    this.#events.set(name, known);
    return known;
  }

  /** What its balances must be. */
  expected(customer: Prepaid): readonly Row[] {
    const rows = MEMBERS.map(({ name }) => this.#direct(customer, name));
    const direct = this.#direct(customer, POOL);
    const credits = creditsOf(customer, rows);
    const pool = {
      ...direct,
      consumed: direct.consumed.plus(credits.used),
      reserved: direct.reserved.plus(credits.held),
    };
    return [...rows, pool].map((row) => ({ ...row, balance: balanceOf(row) }));
  }

  #direct(customer: Prepaid, feature: string): Omit<Row, 'balance'> {
    const total = sum(this.events(customer, feature));
    const open = this.holds.filter(
      (hold) =>
        hold.customer === customer &&
        hold.feature === feature &&
        hold.status === 'open' &&
        !hold.isShort,
    );
    return {
      feature,
      limit: customer.granted.get(feature) ?? NONE,
      consumed: past(total, NONE),
      reserved: sum(open.map(({ amount }) => amount)),
    };
  }
}
