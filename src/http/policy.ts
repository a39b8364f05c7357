// Who may call an operation, and what it writes to the audit log.
//
// Who states it: each operation that takes a key, in its definition; without it, it is no
// `KeyedOperation` and does not compile. An operation of the portal states its `audit`, and
// the page that it is part of where a link may open that alone: the caller is the customer.
// Who reads it: the edge, before it looks at anything but who calls; the dashboard, which shows
// nobody what the API would refuse; the audit log; the OpenAPI document.
// Holds: nothing follows from an operation's name or method. policy.txt has all of them, a line
// each (`bun run policy`).
import { must } from '../../ledger/kernel/assert.ts';
import type { KeyScope } from '../records/api-keys.ts';
import type { Role } from '../records/members.ts';
import type { PortalPage } from '../records/portal-tokens.ts';
import type { Operation } from './operation.ts';

/** What decides what a caller may do. */
export type Scope = KeyScope | Role;

export type Policy = {
  /**
   * The members who may call it, each with those before it in the list; none for what is for
   * programs.
   * - `read_only` reads, `support` also does what helps a customer: nothing that changes what is
   *   sold, who may come in, or where money goes.
   * - `admin` does the rest. Whose bank it is, and what is asked of members, is the `owner`'s.
   * - What the staff did, and from where, is for those who answer for it: `admin`, `owner`.
   */
  readonly roles:
    | readonly []
    | readonly ['owner']
    | readonly ['owner', 'admin']
    | readonly ['owner', 'admin', 'support']
    | readonly ['owner', 'admin', 'support', 'read_only'];
  /** The keys that may: `read` reads, `metering` has the hot path and what it reads. */
  readonly scopes: readonly ['all', ...Exclude<KeyScope, 'all'>[]];
  /** A read writes nothing. */
  readonly audit: Audit | 'nothing';
};

/** The row of a call that succeeded. */
export type Audit = {
  /** What it acts on. */
  readonly object: string;
  /**
   * Whose id it is: of the answer where this is left out, or of the path where the answer has none.
   * `path`: where the answer is about something else. `whole_path`: all that the path names, for
   * what has no id of its own. `customer`: the one that the body names.
   */
  readonly id?: 'path' | 'whole_path' | 'customer';
  /** The operation that reads the same object, with the same parameters. */
  readonly before?: KeyedOperation;
  /**
   * Whether it concerns test and live mode alike. Or the fields that do, where the caller is for
   * both modes: what else has changed is told in the mode of the call alone. Such an operation
   * takes no Idempotency-Key, from which the id of one row follows.
   */
  readonly isOfBothModes?: true | readonly string[];
  /**
   * What an application does for its customers all day is written only where a member does it. It
   * changes neither what is sold, nor who may come in, nor where money goes; the events tell of it,
   * and a row for each would bury the others.
   */
  readonly isRoutine?: true;
};

/** The row of what a customer did in its portal. */
export type PortalAudit = {
  /**
   * The customer itself, its automatic top-up of the path's feature, or the subscription that the
   * body names.
   */
  readonly object: 'customer' | 'auto_topup' | 'subscription';
  readonly before?: KeyedOperation;
  /** The operation that the row names, where this one ends what that one began. */
  readonly as?: string;
};

export type KeyedOperation = Operation &
  Policy & {
    /** Its method of the client, `meters.create`; `own`: written by hand in `src/client`. */
    readonly client: `${string}.${string}` | 'own';
  };
export type PortalOperation = Operation & {
  readonly audit: PortalAudit | 'nothing';
  /** What it is part of: a token for that page alone may call it, and nothing without one. */
  readonly page?: PortalPage;
};

/** An operation, and how its callers are known. */
export type Guarded =
  | { readonly access: 'organisation' | 'group'; readonly operation: KeyedOperation }
  | { readonly access: 'portal'; readonly operation: PortalOperation }
  | { readonly access: 'open'; readonly operation: Operation };

/** Which members and keys may call each operation of the service. */
export class Callers {
  readonly #byName = new Map<string, ReadonlySet<Scope>>();

  /** None of them where it is the address that opens it. */
  of({ access, operation }: Guarded): ReadonlySet<Scope> {
    if (access === 'portal' || access === 'open') return new Set();
    const callers = new Set([...operation.roles, ...operation.scopes]);
    this.#byName.set(operation.operationId, callers);
    return callers;
  }

  /** For an operation that is known by its name, which there must be. */
  may(scope: Scope, operationId: string): boolean {
    return must(this.#byName.get(operationId), `the operation ${operationId}`).has(scope);
  }
}
