// Hands each no of /check and /track to the record of denials. An allowed call costs one
// comparison.
//
// Holds: an answer with a no in it has a request id, by which the no is found.
import type { CheckAnswer, RenderedCheck } from '../../../ledger/metering/meter.ts';
import type { UsageAnswer } from '../../../ledger/outcome.ts';
import type { DenialKind } from '../../records/denials.ts';
import type { OrganisationPrincipal } from '../edge/auth.ts';
import { fromCheck } from '../wire/metering.ts';
import type { MeteringDeps, Subject } from './metering.ts';

/** Who asked. */
export type Asker = { readonly principal: OrganisationPrincipal; readonly request: Request };

type Deps = Pick<MeteringDeps, 'denials' | 'edge'>;

/** The answer of a check, recorded where it says no. */
export function noted(
  deps: Deps,
  asker: Asker,
  subject: Subject,
  { allowed, text }: RenderedCheck,
): string {
  if (!allowed) {
    deps.denials.add({
      tenant: asker.principal,
      customerId: subject.customer.id,
      meter: subject.meter,
      kind: 'check',
      answer: text,
      keyed: null,
      requestId: deps.edge.requestIds.idOf(asker.request),
    });
  }
  return text;
}

/** Records units that could not be reserved. */
export function noteDenial(
  { denials, edge }: Deps,
  { principal, request }: Asker,
  { customer, meter }: Subject,
  answer: CheckAnswer,
): void {
  denials.add({
    tenant: principal,
    customerId: customer.id,
    meter,
    kind: 'reserve',
    answer: JSON.stringify(fromCheck(answer, meter)),
    keyed: null,
    requestId: edge.requestIds.idOf(request),
  });
}

type Refusal = {
  readonly kind: DenialKind;
  readonly outcome: { readonly record: UsageAnswer; readonly replayed: boolean };
  /** Whether it is remembered under a key. */
  readonly isKeyed: boolean;
};

/** Records usage that was refused. */
export function noteRefusal(
  { denials, edge }: Deps,
  { principal, request }: Asker,
  { customer, meter }: Subject,
  { kind, outcome, isKeyed }: Refusal,
): void {
  const { id, value: units, reason, snapshot, paidBy } = outcome.record;
  const denied = { units, allowed: false, reason, snapshot, paidBy };
  denials.add({
    tenant: principal,
    customerId: customer.id,
    meter,
    kind,
    answer: JSON.stringify(fromCheck(denied, meter)),
    keyed: isKeyed ? { transferId: id, replayed: outcome.replayed } : null,
    requestId: edge.requestIds.idOf(request),
  });
}
