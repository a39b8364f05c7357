import { unwatched } from '../actor/actor-cache.ts';
import { bytesOfCustomer } from '../actor/weight.ts';
import type { Customer } from '../metering/meter.ts';

/** A customer whose actor is on another node: enough to find its owner. */
export class RemoteCustomer {
  readonly customer: Customer;
  touched = true;
  readonly pending = 0;
  dropped = false;
  outdated = false;
  held = 0;
  onGrown: (bytes: number) => void = unwatched;

  constructor(customer: Customer) {
    this.customer = customer;
  }

  get id(): string {
    return this.customer.id;
  }

  get bytes(): number {
    return bytesOfCustomer(this.customer);
  }

  get slot(): number {
    return this.customer.slot;
  }
}
