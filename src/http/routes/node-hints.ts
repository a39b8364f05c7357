// Tells a caller of several nodes which of them to ask next time: the number of the node that
// answered, and those of the nodes that own the customers. Hints and no more: any node answers any
// call.
//
// Costs: nothing where there is one node. Elsewhere one look at the headers; only who asks for
// hints pays for them, and they look nothing up.
import type { Ledger } from '../../../ledger/ledger.ts';
import { andThen } from '../and-then.ts';
import type { OrganisationPrincipal } from '../edge/auth.ts';
import { HINTS, NODE, OWNER } from '../openapi/headers.ts';

/** What an operation says of the header that it reads. */
export const ASKS_FOR_HINTS = {
  [HINTS]: `\`1\`: where there are several nodes, the answer has \`${NODE}\` and \`${OWNER}\`.`,
};

type Call = { readonly principal: OrganisationPrincipal; readonly request: Request };

/** @param about the item of the call that names a customer, or the list of them */
export function withHints(
  ledger: Ledger,
  { principal, request }: Call,
  { about, answer }: { readonly about: object; readonly answer: Response | Promise<Response> },
): Response | Promise<Response> {
  if (!ledger.hasOthers || request.headers.get(HINTS) !== '1') return answer;
  return andThen(answer, (response) => {
    const { number } = ledger;
    if (!response.ok || number === null) return response;
    const items: readonly unknown[] = Array.isArray(about) ? about : [about];
    response.headers.set(NODE, String(number));
    response.headers.set(OWNER, items.map((item) => ownerOf(ledger, principal, item)).join(','));
    return response;
  });
}

/** The number of the owner of the customer that the item names; empty where it is not known. */
function ownerOf(ledger: Ledger, principal: OrganisationPrincipal, item: unknown): string {
  if (typeof item !== 'object' || item === null) return '';
  const { customer_id: id, external_customer_id: externalId } = item as Record<string, unknown>;
  if (typeof id === 'string') return text(ledger.ownerOf(principal, { id: id.toLowerCase() }));
  return typeof externalId === 'string' ? text(ledger.ownerOf(principal, { externalId })) : '';
}

const text = (owner: number | null): string => (owner === null ? '' : String(owner));
