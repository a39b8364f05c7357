// What usage over time should say, reckoned from what was sent.
import { expect } from 'bun:test';
import type { Reply } from '../../support/server.ts';
import type { Fields, Setting } from '../metering/setting.ts';

/** An event as it was sent and recorded. `value` is in thousandths. */
export type Sent = {
  readonly customer: string;
  readonly feature: string;
  readonly at: number;
  readonly value: number;
  readonly metadata?: Fields;
};

export type Asked = {
  readonly feature: string;
  readonly customer?: string;
  readonly from: number;
  readonly to: number;
  readonly bin?: string;
  readonly timezone?: string;
  readonly group_by?: string;
};

export type Bin = {
  readonly start: string;
  readonly end: string;
  readonly value: number | null;
  readonly events: number;
  readonly group?: unknown;
};

export function ask(setting: Setting, asked: Asked & Fields, key?: string): Promise<Reply> {
  const { feature, customer, from, to, ...rest } = asked;
  const query = new URLSearchParams({
    feature_key: feature,
    ...(customer !== undefined && { customer_id: customer }),
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    ...(rest as Record<string, string>),
  });
  return setting.server.call('GET', `/usage?${query.toString()}`, key === undefined ? {} : { key });
}

export async function binsOf(setting: Setting, asked: Asked): Promise<Bin[]> {
  const { status, json, text } = await ask(setting, asked);
  if (status !== 200) throw new Error(`${status} ${text}`);
  return json.data as Bin[];
}

/** Of the events with a time in a range: what they come to, and their number. */
export function sumOf(
  sent: readonly Sent[],
  { feature, customer, from, to }: Asked,
  isCount: boolean,
): { value: number; events: number } {
  const own = sent.filter(
    (one) =>
      one.feature === feature &&
      (customer === undefined || one.customer === customer) &&
      one.at >= from &&
      one.at < to,
  );
  const counted = own.reduce((sum, { value }) => sum + (value < 0 ? -1 : 1), 0);
  const value = own.reduce((sum, one) => sum + one.value, 0) / 1000;
  return { value: isCount ? counted : value, events: own.length };
}

/** The bins cover the range without a gap, and each has what was sent in it. */
export function expectReckoned(
  bins: readonly Bin[],
  sent: readonly Sent[],
  { asked, isCount }: { readonly asked: Asked; readonly isCount: boolean },
): void {
  const edges = bins.map(({ start }) => Date.parse(start));
  const ends = bins.map(({ end }) => Date.parse(end));
  expect(ends.slice(0, -1)).toEqual(edges.slice(1));
  expect(asked.from).toBeWithin(edges[0]!, ends[0]!);
  expect(ends.at(-1)! - asked.to).toBeWithin(0, ends.at(-1)! - edges.at(-1)!);
  const expected = bins.map(({ start, end }) => {
    const from = Math.max(Date.parse(start), asked.from);
    const range = { from, to: Math.min(Date.parse(end), asked.to) };
    return { start, end, ...sumOf(sent, { ...asked, ...range }, isCount) };
  });
  expect(bins).toEqual(expected);
}
