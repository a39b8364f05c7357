import type { FailureCode, PaymentState } from './payment.ts';

/**
 * Which declines of a saved instrument are final: one table, for dunning and for automatic top-ups.
 *
 * - `passes`: the same instrument may well pay in a few hours.
 * - `perhaps`: on another day it may, and nothing says when. An expired card may have been renewed.
 * - `final`: only another instrument helps, if any. Also where the bank would ask the buyer, who is
 *   away.
 *
 * Dunning waits for days, and a service that runs is at stake: it tries again what is not final. A
 * top-up is charged as often as it is used up, so within hours: it tries again only what passes. A
 * code that has no row is `perhaps`. What was not attempted passes, unless its code is final: it
 * says nothing of the instrument.
 */
export type DeclineKind = 'passes' | 'perhaps' | 'final';

// prettier-ignore
export const DECLINES = {
  insufficient_funds:       'passes',
  processing_error:         'passes',
  card_declined:            'perhaps',
  expired_card:             'perhaps',
  invalid_expiry:           'perhaps',
  incorrect_cvc:            'perhaps',
  authentication_failed:    'perhaps',
  authentication_abandoned: 'perhaps',
  discount_spent:           'perhaps',
  not_found:                'perhaps',
  canceled:                 'perhaps',
  lost_card:                'final',
  stolen_card:              'final',
  incorrect_number:         'final',
  incorrect_iban:           'final',
  mandate_lost:             'final',
  authentication_required:  'final',
  // The processor takes no such amount, of whatever instrument.
  amount_refused:           'final',
} as const satisfies Readonly<Record<FailureCode, DeclineKind>>;

const KIND_OF: ReadonlyMap<string, DeclineKind> = new Map(Object.entries(DECLINES));

/** Of a charge that was not made. */
export function declineOf({
  status,
  failure,
}: Pick<PaymentState, 'status' | 'failure'>): DeclineKind {
  const kind = KIND_OF.get(failure?.code ?? '') ?? 'perhaps';
  return status === 'errored' && kind !== 'final' ? 'passes' : kind;
}

/** Whether the same instrument is charged again, by whoever waits so long between two tries. */
export function isTriedAgain(decline: DeclineKind, waits: 'hours' | 'days'): boolean {
  return waits === 'days' ? decline !== 'final' : decline === 'passes';
}
