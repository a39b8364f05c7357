// The customers and the meters that the events of one call are about.
//
// Holds: each name and each customer is looked up once, however many events are about it. Without a
// promise where all of them are in memory.
import type { Found } from '../../../ledger/ledger.ts';
import type { UsageMeter } from '../../records/meters.ts';
import { allOf } from '../and-then.ts';
import type { OrganisationPrincipal } from '../edge/auth.ts';
import type { Issue } from '../edge/errors.ts';
import { namingIssue } from '../named-customer.ts';
import type { IngestEvent } from '../wire/metering.ts';
import { findCustomer, isRefused, type MeteringDeps } from './metering.ts';

/** The customer, and every meter that the event feeds: one at least. */
export type EventSubjects = {
  readonly customer: Found;
  readonly fed: readonly UsageMeter[];
};

type Customer = Awaited<ReturnType<typeof findCustomer>>;

type Deps = Pick<MeteringDeps, 'ledger' | 'meters'>;

/** In the order of the events; why there is none instead. */
export function subjectsOfAll(
  deps: Deps,
  principal: OrganisationPrincipal,
  events: readonly IngestEvent[],
): readonly (EventSubjects | Issue)[] | Promise<(EventSubjects | Issue)[]> {
  const lookups = new Lookups(deps, principal);
  return allOf(events.map((event) => lookups.subjectsOf(event)));
}

class Lookups {
  readonly #deps: Deps;
  readonly #principal: OrganisationPrincipal;
  readonly #fed = new Map<string, ReturnType<MeteringDeps['meters']['byEventName']>>();
  readonly #byId = new Map<string, Customer | Promise<Customer>>();
  readonly #byExternalId = new Map<string, Customer | Promise<Customer>>();

  constructor(deps: Deps, principal: OrganisationPrincipal) {
    this.#deps = deps;
    this.#principal = principal;
  }

  subjectsOf(event: IngestEvent): EventSubjects | Issue | Promise<EventSubjects | Issue> {
    const customer = this.#customerOf(event);
    const fed = this.#fedBy(event.name);
    if (customer instanceof Promise || fed instanceof Promise) {
      return Promise.all([customer, fed]).then(([found, meters]) => join(event, found, meters));
    }
    return join(event, customer, fed);
  }

  #fedBy(name: string) {
    const known = this.#fed.get(name);
    if (known !== undefined) return known;
    const fed = this.#deps.meters.byEventName(this.#principal, name);
    this.#fed.set(name, fed);
    return fed;
  }

  #customerOf(event: IngestEvent): Customer | Promise<Customer> {
    const { customer_id: id, external_customer_id: externalId } = event;
    const reference = id ?? externalId;
    // One that is named twice, or not at all, is refused as such.
    if (reference === undefined || namingIssue(event) !== null) return this.#find(event);
    const memory = id === undefined ? this.#byExternalId : this.#byId;
    const known = memory.get(reference);
    if (known !== undefined) return known;
    const customer = this.#find(event);
    memory.set(reference, customer);
    return customer;
  }

  #find(event: IngestEvent): Customer | Promise<Customer> {
    return findCustomer(this.#deps.ledger, this.#principal, event);
  }
}

function join(
  event: IngestEvent,
  customer: Customer,
  fed: readonly UsageMeter[],
): EventSubjects | Issue {
  if (isRefused(customer)) {
    const field = event.customer_id === undefined ? 'external_customer_id' : 'customer_id';
    return customer.issue ?? { path: [field], message: customer.message };
  }
  if (fed.length === 0) return { path: ['name'], message: 'feeds no meter' };
  return { customer, fed };
}
