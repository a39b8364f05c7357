// Where a page of the dashboard stands: what its markup needs to know of the visit.
import type { Mode } from '../../../ledger/kernel/tenant.ts';
import type { OperationId } from '../../client/operations.ts';

/** Why an action was refused, to be shown on its page again. */
export type Fault = {
  readonly message: string;
  /** Of single fields, by their names on the wire: `email`, `prices.0.amount`. */
  readonly issues: readonly { readonly field: string; readonly message: string }[];
  readonly requestId: string | null;
};

/** An organisation that the member may turn to. */
export type Choice = { readonly organisationId: string; readonly organisationName: string };

export type Place = {
  readonly organisation: { readonly id: string; readonly name: string };
  readonly mode: Mode;
  /** The organisation's IANA zone: in which times are shown and typed. */
  readonly zone: string;
  /** `/dashboard/{organisation}/{mode}`: every address of a page begins with it. */
  readonly base: string;
  /** Of this page, below `base`, without its query: `/customers/…`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly user: { readonly email: string; readonly name: string | null; readonly role: string };
  readonly choices: readonly Choice[];
  /** Milliseconds of the organisation's clock. */
  readonly now: number;
  /** Whether the member may call an operation: what it may not is not offered. */
  readonly may: (operation: OperationId) => boolean;
  /** Of the session: a form without it is refused. */
  readonly formToken: string;
  /** A key under which a form counts once, however often it is sent. */
  readonly newKey: () => string;
  readonly fault: Fault | null;
  /** What was typed into the form that was refused; empty otherwise. */
  readonly typed: URLSearchParams;
};
