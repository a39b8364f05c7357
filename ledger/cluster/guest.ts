import type { Customer } from '../meter.ts';

/** A customer whose actor lives on another node: who it is, for finding where. */
export class Guest {
  readonly customer: Customer;
  touched = true;
  readonly pending = 0;
  dropped = false;
  outdated = false;

  constructor(customer: Customer) {
    this.customer = customer;
  }

  get id(): string {
    return this.customer.id;
  }

  get slot(): number {
    return this.customer.slot;
  }
}
