import type { Ids } from '../ports.ts';

/** The invoice of one cause within a subscription. */
export function invoiceIdOf(
  ids: Ids,
  { subscriptionId, cause }: { readonly subscriptionId: string; readonly cause: string },
): string {
  return ids.derive('invoice', subscriptionId, cause);
}

/** What a request asks for is billed once, also where it is sent again. */
export const causeOfRequest = (requestId: string): string => `request ${requestId}`;

/** The invoice by which a request finds what became of it. */
export function invoiceOfRequest(ids: Ids, subscriptionId: string, requestId: string): string {
  return invoiceIdOf(ids, { subscriptionId, cause: causeOfRequest(requestId) });
}
