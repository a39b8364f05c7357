// The customers, the meter and the payments that every measured server has, and how requests name
// them.
export const CUSTOMERS = 10_000;
export const CUSTOMER_DIGITS = 7;
export const FEATURE_KEY = 'api-calls';
export const EVENTS_PER_CALL = 500;
export const PAYMENTS = 1000;
/** The amount of each payment: more than a run can refund. */
export const PRICE = '999999999.00';
export const CURRENCY = 'USD';
export const REFUND = '0.01';

/** Ends in CUSTOMER_DIGITS digits, so that all have the same length. */
export function customerName(index: number): string {
  return `cust-${String(index).padStart(CUSTOMER_DIGITS, '0')}`;
}
