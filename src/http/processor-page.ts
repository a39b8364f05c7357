// The page of a processor that asks the buyer itself, as our own pages speak of it.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Processor, Processors } from '../processors/processor.ts';

export type ProcessorPage = {
  /** Whose it is, as buyers know it. */
  readonly owner: string;
  readonly origin: string;
};

/** null where our own page asks. */
export function pageOf({ name, page, pageOrigin }: Processor): ProcessorPage | null {
  if (page === 'fields') return null;
  const owner = name.startsWith('stripe:') ? 'Stripe' : new URL(pageOrigin).host;
  return { owner, origin: pageOrigin };
}

/** The page to which a payment or a try at one of them led. */
export function pageOfNamed(
  processors: Processors,
  tenant: Tenant,
  name: string,
): ProcessorPage | null {
  const processor = processors.named(tenant, name);
  return processor === null ? null : pageOf(processor);
}

/**
 * Whether a form may lead to `url` at once. Its page lists the origins that it may lead to, and an
 * account may have its page at an origin of its own.
 */
export function isAt(url: string, { origin }: ProcessorPage): boolean {
  return URL.parse(url)?.origin === origin;
}
