// Lists: newest first, in pages.
import type Stripe from 'stripe';
import { missing } from './errors.ts';
import { integer, list, text } from './params.ts';

const LIMIT = 10;
const LIMIT_MAX = 100;

/** The parameters that each list has. */
export const PAGING = {
  ending_before: text,
  expand: list(text),
  limit: integer(1, LIMIT_MAX),
  starting_after: text,
};
type Paging = {
  readonly ending_before?: string;
  readonly limit?: number;
  readonly starting_after?: string;
};

export function page<T extends { readonly id: string }>(
  all: Iterable<T>,
  url: string,
  paging: Paging,
): Stripe.ApiList<T> {
  const limit = paging.limit ?? LIMIT;
  const newestFirst = [...all].reverse();
  const indexOf = (id: string, param: string): number => {
    const index = newestFirst.findIndex((one) => one.id === id);
    if (index === -1) throw missing('object', id, param, 400);
    return index;
  };
  if (paging.ending_before !== undefined) {
    const end = indexOf(paging.ending_before, 'ending_before');
    const start = Math.max(0, end - limit);
    return { object: 'list', data: newestFirst.slice(start, end), has_more: start > 0, url };
  }
  const start =
    paging.starting_after === undefined ? 0 : indexOf(paging.starting_after, 'starting_after') + 1;
  const data = newestFirst.slice(start, start + limit);
  return { object: 'list', data, has_more: start + limit < newestFirst.length, url };
}

export function isWithin(
  seconds: number,
  asked: number | Stripe.RangeQueryParam | undefined,
): boolean {
  if (asked === undefined) return true;
  if (typeof asked === 'number') return seconds === asked;
  const { gt, gte, lt, lte } = asked;
  return (
    (gt === undefined || seconds > gt) &&
    (gte === undefined || seconds >= gte) &&
    (lt === undefined || seconds < lt) &&
    (lte === undefined || seconds <= lte)
  );
}

/** Whether a field is what was asked for, where it was. */
export function isAsked<T>(value: T, asked: T | undefined): boolean {
  return asked === undefined || value === asked;
}
