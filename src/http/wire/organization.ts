import { type Static, Type } from '@sinclair/typebox';
import {
  DUNNING_DAYS_MAX,
  DUNNING_RETRIES_MAX,
  DUNNING_RETRY_DAYS_MAX,
} from '../../../ledger/limits.ts';
import { unreachable } from '../../../ledger/kernel/assert.ts';
import type {
  DunningFault,
  OrganisationPatch,
  OrganisationRecord,
} from '../../records/organisations.ts';
import type { Issue } from '../edge/errors.ts';
import { Branding, BrandingChange, fromBranding, toBrandingPatch } from './branding.ts';
import { NO_ZONE, Timezone, zoneOf } from './timezone.ts';
import { Body, Country, Email, Line, Mode, Nullable, Timestamp, Uuid } from './values.ts';

const SELLER = {
  name: Type.String({
    ...Line,
    description: 'On invoices, instead of the name of the organization.',
  }),
  address_line1: Line,
  address_line2: Line,
  city: Line,
  state: Line,
  postal_code: Line,
  country: Country,
  tax_id: Line,
  email: Email,
  phone: Line,
};

const RetryDays = Type.Array(Type.Integer({ minimum: 1, maximum: DUNNING_RETRY_DAYS_MAX }), {
  maxItems: DUNNING_RETRIES_MAX,
  description: 'When a failed payment is retried, in days after the first failure; ascending.',
});

const Days = (description: string) =>
  Type.Integer({ minimum: 1, maximum: DUNNING_DAYS_MAX, description });

const DUNNING = {
  retry_days: RetryDays,
  block_after_days: Days('After how many days access is blocked.'),
  expire_after_days: Days(
    'After how many days the subscription ends: not before it is blocked, and after all retries.',
  ),
};

export const SellerChange = Body({
  name: Type.Optional(Nullable(SELLER.name)),
  address_line1: Type.Optional(Nullable(SELLER.address_line1)),
  address_line2: Type.Optional(Nullable(SELLER.address_line2)),
  city: Type.Optional(Nullable(SELLER.city)),
  state: Type.Optional(Nullable(SELLER.state)),
  postal_code: Type.Optional(Nullable(SELLER.postal_code)),
  country: Type.Optional(Nullable(SELLER.country)),
  tax_id: Type.Optional(Nullable(SELLER.tax_id)),
  email: Type.Optional(Nullable(SELLER.email)),
  phone: Type.Optional(Nullable(SELLER.phone)),
});

export const DunningChange = Type.Partial(Body(DUNNING));

export const OrganizationChange = Body(
  {
    name: Type.Optional(Line),
    timezone: Type.Optional(Timezone),
    seller: Type.Optional(SellerChange),
    dunning: Type.Optional(DunningChange),
    branding: Type.Optional(BrandingChange),
  },
  {
    timezone: 'Europe/Vienna',
    seller: { name: 'Acme GmbH', country: 'AT' },
    dunning: { retry_days: [1, 3, 7], block_after_days: 10, expire_after_days: 14 },
    branding: { color: '#5b2a86', support_email: 'help@acme.example' },
  },
);

export const Seller = Type.Object({
  name: Nullable(SELLER.name),
  address_line1: Nullable(SELLER.address_line1),
  address_line2: Nullable(SELLER.address_line2),
  city: Nullable(SELLER.city),
  state: Nullable(SELLER.state),
  postal_code: Nullable(SELLER.postal_code),
  country: Nullable(SELLER.country),
  tax_id: Nullable(SELLER.tax_id),
  email: Nullable(SELLER.email),
  phone: Nullable(SELLER.phone),
});

export const Dunning = Type.Object(DUNNING);

export const Organization = Type.Object({
  id: Uuid,
  mode: Mode,
  name: Type.String(),
  timezone: Timezone,
  seller: Seller,
  dunning: Dunning,
  branding: Branding,
  created_at: Timestamp,
  updated_at: Timestamp,
});

export function toOrganisationPatch(
  body: Static<typeof OrganizationChange>,
): OrganisationPatch | { readonly issues: readonly Issue[] } {
  const { name, seller, dunning } = body;
  const timezone = body.timezone === undefined ? undefined : zoneOf(body.timezone);
  if (timezone === null) {
    return { issues: [NO_ZONE] };
  }
  const branding = body.branding && toBrandingPatch(body.branding);
  if (branding !== undefined && 'issues' in branding) return branding;
  return {
    name,
    timezone,
    seller: seller && {
      name: seller.name,
      addressLine1: seller.address_line1,
      addressLine2: seller.address_line2,
      city: seller.city,
      state: seller.state,
      postalCode: seller.postal_code,
      country: seller.country,
      taxId: seller.tax_id,
      email: seller.email,
      phone: seller.phone,
    },
    dunning: dunning && {
      retryDays: dunning.retry_days,
      blockAfterDays: dunning.block_after_days,
      expireAfterDays: dunning.expire_after_days,
    },
    branding,
  };
}

/** The issue of two settings that contradict each other, at the one that was sent. */
export function dunningIssue(
  fault: DunningFault,
  { dunning = {} }: Static<typeof OrganizationChange>,
): Issue {
  const at = (field: keyof typeof DUNNING, message: string): Issue => ({
    path: ['dunning', field],
    message,
  });
  switch (fault) {
    case 'retries_not_ascending':
      return at('retry_days', 'must ascend');
    case 'retries_past_expiry':
      return dunning.retry_days === undefined
        ? at('expire_after_days', 'must come after the last of retry_days')
        : at('retry_days', 'must all come before expire_after_days');
    case 'blocked_past_expiry':
      return dunning.block_after_days === undefined
        ? at('expire_after_days', 'must not come before block_after_days')
        : at('block_after_days', 'must not come after expire_after_days');
    default:
      return unreachable(fault);
  }
}

export function fromOrganisation(
  organisation: OrganisationRecord,
  appUrl: string,
): Static<typeof Organization> {
  const { seller, dunning } = organisation;
  return {
    id: organisation.organisationId,
    mode: organisation.mode,
    name: organisation.name,
    timezone: organisation.timezone,
    seller: {
      name: seller.name,
      address_line1: seller.addressLine1,
      address_line2: seller.addressLine2,
      city: seller.city,
      state: seller.state,
      postal_code: seller.postalCode,
      country: seller.country,
      tax_id: seller.taxId,
      email: seller.email,
      phone: seller.phone,
    },
    dunning: {
      retry_days: [...dunning.retryDays],
      block_after_days: dunning.blockAfterDays,
      expire_after_days: dunning.expireAfterDays,
    },
    branding: fromBranding(organisation.branding, appUrl),
    created_at: organisation.createdAt.toISOString(),
    updated_at: organisation.updatedAt.toISOString(),
  };
}
