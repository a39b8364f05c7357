// Reads balances at any node and compares each read with what the callers know: no acknowledged
// call is missing, and there is nothing that was not sent.
import type { Book, Seen } from '../book.ts';
import { type Answered, call } from '../call.ts';
import { CAPPED_METER, OPEN_METER, type Tenant } from '../tenant.ts';
import type { Tally } from './tally.ts';

const METERS = [OPEN_METER, CAPPED_METER];
const WITHIN_MS = 1500;

type Result = Seen & {
  readonly allowed: boolean;
  readonly balance: number;
  readonly reserved: number;
  readonly requested: number;
  readonly feature_key: string;
};

export class Reader {
  readonly faults: string[] = [];
  readonly #book: Book;
  readonly #tenant: Tenant;
  readonly #tally: Tally;

  constructor(book: Book, tenant: Tenant, tally: Tally) {
    this.#book = book;
    this.#tenant = tenant;
    this.#tally = tally;
  }

  /** Each of these resolves when it is answered, or after its timeout. */
  async check(url: string, customer: string, meter = CAPPED_METER, withinMs = WITHIN_MS) {
    const before = this.#book.mark({ customer, meter });
    const answer = await this.#ask(url, 'check', withinMs, '/check', {
      customer_id: customer,
      feature_key: meter,
    });
    if (answer?.status === 200) this.#judge({ customer, meter }, before, answer.json as Result);
  }

  async batch(url: string, customers: readonly string[], withinMs = WITHIN_MS) {
    const asked = customers.flatMap((customer) => METERS.map((meter) => ({ customer, meter })));
    const before = asked.map((of) => this.#book.mark(of));
    const checks = asked.map(({ customer, meter }) => ({
      customer_id: customer,
      feature_key: meter,
    }));
    const answer = await this.#ask(url, 'batch', withinMs, '/check/batch', { checks });
    if (answer?.status !== 200) return;
    const results = answer.json.results as (Result & { error?: { type: string } })[];
    for (const [index, result] of results.entries()) {
      if (result.error === undefined) this.#judge(asked[index]!, before[index]!, result);
      else this.#tally.count(`batch ${result.error.type}`, 200);
    }
  }

  async balances(url: string, customer: string, withinMs = WITHIN_MS) {
    const before = METERS.map((meter) => this.#book.mark({ customer, meter }));
    const path = `/customers/${customer}/balances`;
    const answer = await this.#ask(url, 'balances', withinMs, path);
    if (answer?.status !== 200) return;
    const rows = answer.json.data as Result[];
    for (const [index, meter] of METERS.entries()) {
      const row = rows.find(({ feature_key: key }) => key === meter);
      const seen = row ?? { consumed: 0, limit: null };
      this.#note(this.#book.judge({ customer, meter }, before[index]!, seen));
    }
  }

  async #ask(
    url: string,
    kind: string,
    withinMs: number,
    path: string,
    body?: unknown,
  ): Promise<Answered | null> {
    const { key } = this.#tenant;
    const answer = await call({ url, key }, path, body, withinMs).catch(() => null);
    const status = answer?.status ?? 0;
    this.#tally.count(kind, status);
    if (answer !== null && status !== 200 && status !== 503) {
      this.#note(`${kind}: ${status} ${JSON.stringify(answer.json)}`);
    }
    return answer;
  }

  #judge(
    of: { readonly customer: string; readonly meter: string },
    before: ReturnType<Book['mark']>,
    result: Result,
  ): void {
    this.#note(this.#book.judge(of, before, result));
    if (of.meter !== CAPPED_METER) return;
    const { allowed, balance, limit, consumed, reserved, requested } = result;
    const isSound =
      balance === (limit ?? 0) - consumed - reserved && allowed === balance >= requested;
    if (!isSound) this.#note(`a check that contradicts itself: ${JSON.stringify(result)}`);
  }

  #note(wrong: string | null): void {
    // The time, to find it in the nodes' logs.
    if (wrong !== null) this.faults.push(`${new Date().toISOString()} ${wrong}`);
  }
}
