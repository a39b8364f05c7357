// No request may block the writer: an organisation sends the largest calls again and again, and its
// neighbour does not notice.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { INGEST_BYTES_MAX, UNIT_BYTES_MAX } from '../../ledger/limits.ts';
import type { Sender } from '../chaos/call.ts';
import { attackWith, loneCall, waitMaxOf } from './attacker.ts';
import { moveIn, notice } from './neighbour.ts';
import { openStand, type Stand } from './stand.ts';

const METERS = 10;
const EVENTS = 500;
const CUSTOMERS = 500;

const VALUE = 'v'.repeat(480);
/** For each event: with its name and punctuation a pair has at most 500 bytes. */
const UNIT_PAIRS = Math.floor(UNIT_BYTES_MAX / EVENTS / 500);
const BODY_PAIRS = Math.floor(INGEST_BYTES_MAX / EVENTS / 500) - 1;

type Attack = {
  readonly what: string;
  readonly customers: number;
  /** For each event. */
  readonly pairs: number;
  readonly statuses: readonly number[];
};

// prettier-ignore
export const ATTACKS: readonly Attack[] = [
  { what: 'one customer, all the metadata that is allowed', customers: 1,   pairs: 50,         statuses: [413] },
  { what: 'many customers, as much as a body may have',     customers: 500, pairs: BODY_PAIRS, statuses: [413] },
  { what: 'as much as one call may have',                   customers: 500, pairs: UNIT_PAIRS, statuses: [200, 503] },
  { what: 'as many rows as one call may have',              customers: 500, pairs: 0,          statuses: [200, 503] },
];

/** Each against one node, and against three. */
export function attackWriter(attacks: readonly Attack[], forMs: number): void {
  describe.each([1, 3])('on %d nodes the writer is not blocked by', (nodes) => {
    let stand: Stand;
    beforeAll(async () => {
      stand = await openStand(nodes);
      await moveIn(stand);
      for (let n = 0; n < METERS; n += 1) {
        await stand.attacker.make('/meters', { slug: `meter-${n}`, event_name: 'attack' });
      }
      for (let n = 0; n < CUSTOMERS; n += 1) {
        await stand.attacker.make('/customers', { external_customer_id: `attacker-${n}` });
      }
    }, 120_000);
    afterAll(() => stand.stop());

    test.each(attacks)(
      '$what',
      async (attack) => {
        const body = JSON.stringify(bodyOf(attack));
        const send = (to: Sender) => post(to, body);
        const loneMs = await loneCall(stand, send);
        const answers: Record<number, number> = {};
        const noticed = await notice(stand, attackWith(stand, send, { forMs, answers }));
        console.log({ ...attack, nodes, ...noticed, loneMs, answers });
        expect(noticed.refused).toEqual({});
        expect(noticed.answered).toBeGreaterThan(0);
        expect(noticed.longestMs).toBeLessThan(waitMaxOf(loneMs));
        const unexpected = Object.keys(answers).filter(
          (one) => !attack.statuses.includes(Number(one)),
        );
        expect(unexpected).toEqual([]);
      },
      180_000,
    );
  });
}

async function post({ url, key }: Sender, body: string): Promise<number> {
  const response = await fetch(`${url}/events/ingest`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  });
  await response.arrayBuffer();
  return response.status;
}

function bodyOf({ customers, pairs }: Attack): unknown {
  const metadata = Object.fromEntries(Array.from({ length: pairs }, (_, n) => [`key-${n}`, VALUE]));
  return {
    events: Array.from({ length: EVENTS }, (_, n) => ({
      name: 'attack',
      external_customer_id: `attacker-${n % customers}`,
      metadata,
    })),
  };
}
