// One organisation that is filled: whose it is, how many of each thing, and the names of its rows.
import { type Copier, idOf } from './copier.ts';

/** What is copied: ids of the first organisation. */
export type Originals = {
  readonly organisationId: string;
  readonly customer: string;
  readonly meter: string;
  readonly product: string;
  readonly payment: string;
  readonly subscription: string;
  readonly grant: string;
  readonly delivery: string;
  readonly discount: string;
};

export type Sizes = {
  readonly customers: number;
  /** Of the first customer, of each thing. */
  readonly most: number;
};

/** Of products, discounts and meters. */
export const CATALOGUE = 1000;
export const METERS_USED = 50;
export const DAYS = 30;
export const MONTH = `interval '${DAYS} days'`;

export type Owner = { readonly id: string; readonly mark: string; readonly isFirst: boolean };

export class Filling {
  readonly copier: Copier;
  readonly owner: Owner;
  readonly originals: Originals;
  readonly sizes: Sizes;
  /** As SQL: ids follow from times, so it is the same in each statement. */
  readonly now: string;

  constructor(
    copier: Copier,
    of: {
      readonly owner: Owner;
      readonly originals: Originals;
      readonly sizes: Sizes;
      readonly now: number;
    },
  ) {
    this.copier = copier;
    this.owner = of.owner;
    this.originals = of.originals;
    this.sizes = of.sizes;
    this.now = `'${new Date(of.now).toISOString()}'::timestamptz`;
  }

  /** As SQL, like its arguments but the kind. */
  id(kind: string, n: string, at: string): string {
    return idOf(`${this.owner.mark} ${kind}`, n, at);
  }

  /** The column that says whose a row is. */
  get own(): Record<string, string> {
    return { organisation_id: `'${this.owner.id}'::uuid` };
  }

  /** Two of each customer in a month, and what the first one has beyond that. */
  bought(kind: string): string {
    const { mark } = this.owner;
    const { customers, most } = this.sizes;
    const total = 2 * customers + most;
    return `(
      select d.n, d.at, p.id as customer, p.slot as customer_slot, ${this.id(kind, 'd.n', 'd.at')} as made,
        case when p.n = 0 and ${this.owner.isFirst} then null else 'user-' || p.n end as named
      from (
        select n, ${this.now} - ${MONTH} * (${total} - n) / ${total} as at,
          case when n % ${Math.ceil(total / most)} = 0 then 0 else n % ${customers} end as person
        from generate_series(1, ${total}) n) d
      join ${mark}_people p on p.n = d.person) bought`;
  }

  /** When a subscription was made. */
  planned(n: string): string {
    const total = this.sizes.customers + this.sizes.most;
    return `${this.now} - interval '360 days' * (${total} - ${n}) / ${total}`;
  }

  plan(n: string): string {
    return this.id('subscription', n, this.planned(n));
  }
}

export const quarterOf = (at: string): string => `date_bin('15 minutes', ${at}, 'epoch')`;
