import type { Subscription } from './subscription.ts';

/**
 * What may be done with a subscription, and when. This one table serves the API, the portal, the
 * documentation and the model test. Anything else is refused as `invalid_state` with the legal
 * actions. An action that is already fulfilled is not refused: it changes nothing.
 */
export const ACTIONS = [
  'cancel',
  'uncancel',
  'pause',
  'resume',
  'change',
  'unschedule',
  'end_trial',
] as const;
export type Action = (typeof ACTIONS)[number];

/** What decides it: of a subscription, or as much as a reader of the API knows of one. */
export type Standing = Pick<Subscription, 'status' | 'periodIndex' | 'cancelAt'> & {
  readonly open: readonly { readonly isForgone?: true }[];
  readonly waiting: object | null;
};

export type Situation = {
  /** The condition in words, for the documentation. */
  readonly legal: string;
  readonly holds: (standing: Standing) => boolean;
};

export const TRANSITIONS: Readonly<Record<Action, Situation>> = {
  cancel: {
    // It takes back a change that waits for its payment.
    legal: 'active or paused, overdue or not',
    holds: ({ status }) => status !== 'canceled',
  },
  uncancel: {
    legal: 'until a scheduled cancellation takes effect',
    holds: ({ status }) => status !== 'canceled',
  },
  pause: {
    // Dunning goes on during a pause.
    legal: 'active or paused, overdue or not, while no change waits for its payment',
    holds: ({ status, waiting }) => status !== 'canceled' && waiting === null,
  },
  resume: {
    legal: 'paused, or active already',
    holds: ({ status }) => status !== 'canceled',
  },
  change: {
    legal: 'active with nothing unpaid',
    holds: ({ status, open, waiting }) =>
      status === 'active' && waiting === null && open.every(({ isForgone }) => isForgone === true),
  },
  unschedule: {
    legal: 'while a change waits for its payment',
    holds: ({ waiting }) => waiting !== null,
  },
  end_trial: {
    legal: 'active in its trial, not canceled',
    holds: ({ status, periodIndex, cancelAt }) =>
      status === 'active' && periodIndex < 0 && cancelAt === null,
  },
};

export function legalActions(standing: Standing): readonly Action[] {
  return ACTIONS.filter((action) => TRANSITIONS[action].holds(standing));
}
